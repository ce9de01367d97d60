//! Names of secret values.

const PARTS: &[&str] =
    &["cookie", "credential", "passphrase", "passwd", "password", "private", "secret", "token"];

/// Whether the name of a key marks its value as secret: `db_password` and `auth_key` do, `keystone` does not.
pub fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let is_key = |word: &str| matches!(word, "key" | "keys" | "pass" | "psk");
    PARTS.iter().any(|part| key.contains(part))
        || key.split(|letter: char| !letter.is_ascii_alphanumeric()).any(is_key)
        || key.ends_with("key")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_keys_are_recognized_by_name() {
        for key in
            ["password", "db_password", "admin_token", "auth_key", "key", "sshkey", "SECRET", "ssl.key"]
        {
            assert!(is_secret(key), "{key}");
        }
        for key in ["keystone", "keystone/api", "debug", "network_metadata", "monitor", "passthrough"] {
            assert!(!is_secret(key), "{key}");
        }
    }
}
