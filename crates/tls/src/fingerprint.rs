//! Certificate fingerprints.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

/// SHA-256 of the DER-encoded certificate.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 32]);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be `sha256:` followed by 64 hexadecimal digits, as printed by `stoker ca show`")]
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

    /// Accepts upper case and colons between bytes, as other programs print them.
    fn from_str(text: &str) -> Result<Self, FingerprintError> {
        let digits = text.strip_prefix("sha256:").ok_or(FingerprintError)?;
        let digits: Vec<u8> = digits.bytes().filter(|byte| *byte != b':').collect();
        let mut bytes = [0; 32];
        hex::decode_to_slice(digits, &mut bytes).map_err(|_| FingerprintError)?;
        Ok(Self(bytes))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", hex::encode(self.0))
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
    fn fingerprint_formats_are_parsed() {
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
