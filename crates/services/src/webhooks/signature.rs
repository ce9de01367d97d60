//! Signature of deliveries, with which receivers verify origin and age.

use ring::hmac;

pub(super) const SIGNATURE: &str = "x-stoker-signature";
pub(super) const TIMESTAMP: &str = "x-stoker-timestamp";

/// Returns `sha256=` and the hexadecimal HMAC of the Unix time in seconds, a full stop and the body.
pub(super) fn sign(secret: &str, timestamp: i64, body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let mut context = hmac::Context::with_key(&key);
    context.update(timestamp.to_string().as_bytes());
    context.update(b".");
    context.update(body);
    format!("sha256={}", hex::encode(context.sign()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_matches_openssl() {
        // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac 'correct horse battery'
        let expected = "sha256=98a51b330afc58453095af8ed727e6cc4bd565edb4230482620146eda751b416";
        assert_eq!(sign("correct horse battery", 1_700_000_000, br#"{"a":1}"#), expected);
        assert_ne!(sign("correct horse battery", 1_700_000_001, br#"{"a":1}"#), expected);
        assert_ne!(sign("another secret", 1_700_000_000, br#"{"a":1}"#), expected);
    }
}
