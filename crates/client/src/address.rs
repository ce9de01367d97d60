//! Where a server is.

use std::fmt;
use std::net::IpAddr;

use ureq::http::Uri;

use crate::error::ClientError;

/// The address of a server, `https://stoker.example:8000`, in one spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    base: String,
    host: String,
    is_secure: bool,
}

impl Address {
    /// Reads what people write: the scheme may be missing, a slash or the path of the API may be at the end.
    pub fn parse(text: &str) -> Result<Self, ClientError> {
        let wrong = |why: &str| ClientError::Address { url: text.to_owned(), why: why.to_owned() };
        let with_scheme = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let uri: Uri = with_scheme.parse().map_err(|_| wrong("it cannot be read"))?;
        let is_secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(wrong("it must begin with http:// or https://")),
        };
        let authority = uri.authority().ok_or_else(|| wrong("it names no host"))?;
        if authority.as_str().contains('@') {
            return Err(wrong("it has a password in it; log in with `stoker login`"));
        }
        if authority.host().is_empty() {
            return Err(wrong("it names no host"));
        }
        if uri.query().is_some() {
            return Err(wrong("it has a query"));
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

    /// Whether it is on this machine, which no proxy can reach for us.
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
    fn addresses_have_one_spelling() {
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
    fn wrong_addresses_are_named() {
        for text in ["", "ftp://x", "http://", "http://a b", "http://u:p@x:1", "http://x/?a=1"] {
            let error = Address::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{text}` is no address")), "{error}");
        }
    }
}
