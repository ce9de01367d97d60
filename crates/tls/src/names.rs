//! Names of a server in its certificate.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use rcgen::SanType;

/// A host name, a wildcard name or an IP address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Name {
    Host(String),
    Address(IpAddr),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be a host name (`stoker.example`, `*.example`) or an address (`10.0.0.7`), without scheme and port"
)]
pub struct NameError;

/// Length limits of a DNS label and of a whole name.
const LABEL_MAX: usize = 63;
const NAME_MAX: usize = 253;

impl Name {
    pub(crate) fn san(&self) -> Result<SanType, rcgen::Error> {
        Ok(match self {
            Self::Host(name) => SanType::DnsName(name.as_str().try_into()?),
            Self::Address(address) => SanType::IpAddress(*address),
        })
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        if let Ok(address) = text.trim_matches(['[', ']']).parse() {
            return Ok(Self::Address(address));
        }
        let name = text.to_ascii_lowercase();
        let rest = name.strip_prefix("*.").unwrap_or(&name);
        let is_label = |label: &str| {
            (1..=LABEL_MAX).contains(&label.len())
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        };
        let is_number = rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if name.len() <= NAME_MAX && !is_number && rest.split('.').all(is_label) {
            Ok(Self::Host(name))
        } else {
            Err(NameError)
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(name) => f.write_str(name),
            Self::Address(address) => write!(f, "{address}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_are_distinguished() {
        for (text, expected) in [
            ("Stoker.Example", "stoker.example"),
            ("*.example", "*.example"),
            ("node_7", "node_7"),
            ("10.0.0.7", "10.0.0.7"),
            ("[::1]", "::1"),
        ] {
            assert_eq!(text.parse::<Name>().unwrap().to_string(), expected);
        }
        assert!(matches!("10.0.0.7".parse(), Ok(Name::Address(_))));
        for wrong in [
            "",
            "a..b",
            "https://a",
            "a:8000",
            "a b",
            "-a",
            "10.0.0",
            "*",
            "*.",
            "ä.example",
            &"a".repeat(64),
        ] {
            assert_eq!(wrong.parse::<Name>(), Err(NameError), "{wrong}");
        }
    }
}
