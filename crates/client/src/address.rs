//! Server addresses.

use std::fmt;
use std::net::IpAddr;

use ureq::http::Uri;

use crate::error::ClientError;

/// Normalized base URL of a server, such as `https://stoker.example:8000`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    base: String,
    host: String,
    is_secure: bool,
}

impl Address {
    /// Parses user input: the scheme is optional, and a trailing slash or API path is removed.
    pub fn parse(text: &str) -> Result<Self, ClientError> {
        let invalid = |why: &str| ClientError::Address { url: text.to_owned(), why: why.to_owned() };
        let with_scheme = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let uri: Uri = with_scheme.parse().map_err(|_| invalid("it is not a URL"))?;
        let is_secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(invalid("it must start with http:// or https://")),
        };
        let authority = uri.authority().ok_or_else(|| invalid("it has no host"))?;
        if authority.as_str().contains('@') {
            return Err(invalid("it must not contain a password; log in with `stoker login`"));
        }
        if authority.host().is_empty() {
            return Err(invalid("it has no host"));
        }
        if uri.query().is_some() {
            return Err(invalid("it must not contain a query"));
        }
        let path = uri.path().trim_end_matches('/');
        let path = path.strip_suffix("/api/v1").or_else(|| path.strip_suffix("/api")).unwrap_or(path);
        let scheme = if is_secure { "https" } else { "http" };
        Ok(Self {
            base: format!("{scheme}://{authority}{path}"),
            host: authority.host().trim_matches(['[', ']']).to_owned(),
            is_secure,
        })
    }

    pub fn as_str(&self) -> &str {
        &self.base
    }

    pub fn is_secure(&self) -> bool {
        self.is_secure
    }

    /// Reports whether the host is a loopback address, for which proxies are bypassed.
    pub fn is_local(&self) -> bool {
        self.host == "localhost" || self.host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_normalized() {
        let cases = [
            ("127.0.0.1:8000", "http://127.0.0.1:8000", true),
            ("http://localhost:8000/", "http://localhost:8000", true),
            ("http://[::1]:8000/api/v1/", "http://[::1]:8000", true),
            ("https://stoker.example/api", "https://stoker.example", false),
            ("https://example.com/stoker", "https://example.com/stoker", false),
        ];
        for (text, base, is_local) in cases {
            let address = Address::parse(text).unwrap();
            assert_eq!((address.as_str(), address.is_local()), (base, is_local), "{text}");
            assert_eq!(address.is_secure(), base.starts_with("https"), "{text}");
        }
    }

    #[test]
    fn invalid_addresses_are_reported() {
        for text in ["", "ftp://x", "http://", "http://a b", "http://u:p@x:1", "http://x/?a=1"] {
            let error = Address::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{text}` is not a server address")), "{error}");
        }
    }
}
