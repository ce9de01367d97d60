//! clap value parsers: malformed values are usage errors, found before any request is sent.

use stoker_model::{ErrorChain, GraphType, Role};

pub(crate) fn graph_type(text: &str) -> Result<String, String> {
    GraphType::new(text)
        .map(|graph_type| graph_type.as_str().to_owned())
        .map_err(|error| ErrorChain(&error).to_string())
}

/// Parses a MAC address: six hexadecimal bytes, separated by colons or dashes.
pub(crate) fn mac(text: &str) -> Result<String, String> {
    let is_byte = |part: &str| part.len() == 2 && part.bytes().all(|digit| digit.is_ascii_hexdigit());
    let parts: Vec<&str> = text.trim().split([':', '-']).collect();
    if parts.len() == 6 && parts.into_iter().all(is_byte) {
        return Ok(text.to_owned());
    }
    Err("expected a MAC address, such as `52:54:00:12:34:56`".to_owned())
}

/// Parses the name of a user role.
pub(crate) fn user_role(text: &str) -> Result<String, String> {
    let role = Role::parse(text).map(|role| role.as_str().to_owned());
    role.ok_or_else(|| format!("expected one of {}", Role::NAMES.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parsers_reject_malformed_values() {
        for valid in ["52:54:00:12:34:56", "52-54-00-AB-cd-ef"] {
            assert_eq!(mac(valid).as_deref(), Ok(valid));
        }
        for invalid in ["", "zz", "52:54:00:12:34", "52:54:00:12:34:5g", "52:54:00:12:34:56:78"] {
            assert!(mac(invalid).is_err(), "{invalid}");
        }
        for invalid in ["", "a b", "a/b"] {
            assert!(graph_type(invalid).is_err(), "{invalid}");
        }
        assert_eq!(graph_type("net-check").as_deref(), Ok("net-check"));
        assert_eq!(user_role("operator").as_deref(), Ok("operator"));
        assert!(user_role("nope").is_err_and(|message| message.contains("operator")));
    }
}
