//! What a certificate is recognised by.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

/// SHA-256 over the whole certificate.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 32]);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be `sha256:` and 64 hexadecimal digits, as `stoker ca show` tells")]
pub struct FingerprintError;

impl Fingerprint {
    pub fn of(der: &[u8]) -> Self {
        Self(Sha256::digest(der).into())
    }

    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    /// Other programs write capital letters, and a colon after each byte.
    fn from_str(text: &str) -> Result<Self, FingerprintError> {
        let digits = text.strip_prefix("sha256:").ok_or(FingerprintError)?;
        let digits: Vec<u8> = digits.bytes().filter(|byte| *byte != b':').collect();
        let value = |byte: u8| char::from(byte).to_digit(16).ok_or(FingerprintError);
        if digits.len() != 64 {
            return Err(FingerprintError);
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = (value(pair[0])? << 4 | value(pair[1])?) as u8;
        }
        Ok(Self(bytes))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_read_as_they_are_written_and_as_others_write_them() {
        let print = Fingerprint::of(b"x");
        let text = print.to_string();
        assert_eq!(text.parse(), Ok(print));
        let digits = &text["sha256:".len()..];
        let pairs: Vec<String> =
            digits.as_bytes().chunks(2).map(|pair| String::from_utf8_lossy(pair).to_uppercase()).collect();
        assert_eq!(format!("sha256:{}", pairs.join(":")).parse(), Ok(print));
        for wrong in [
            "",
            "sha256:",
            digits,
            &text[..70],
            &format!("{text}0"),
            &text.replace("sha256", "sha1"),
            &format!("{}é", &text[..69]),
        ] {
            assert_eq!(wrong.parse::<Fingerprint>(), Err(FingerprintError), "{wrong}");
        }
    }
}
