//! Checksum that identifies versions of contents.

use md5::{Digest as _, Md5};

/// Returns the MD5 of the text as received, in hexadecimal. Identifies a version; not used for security.
pub fn md5_hex(text: &str) -> String {
    hex::encode(Md5::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn md5_matches_reference_values() {
        assert_eq!(md5_hex(""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(md5_hex("bWVzc2FnZT1oaQo="), "e18e9c0a4d721c428e2e328126d01a30");
    }
}
