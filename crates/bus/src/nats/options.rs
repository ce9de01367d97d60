//! Address and credentials of NATS.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use async_nats::{Auth, AuthError, ConnectError, ConnectOptions, ServerAddr};
use parking_lot::RwLock;

use crate::error::BoxedError;

#[derive(Clone, Debug)]
pub struct NatsOptions {
    /// Comma-separated `nats://` or `tls://` URLs, with user and password if required.
    pub url: String,
    pub auth: NatsAuth,
    /// CA certificates to trust in addition to those of the system, for `tls://`.
    pub ca: Option<PathBuf>,
    /// Client name shown in the connection list of NATS.
    pub name: String,
    /// Inbox prefix, if the user may subscribe only to certain subjects.
    pub inbox: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub enum NatsAuth {
    /// Credentials in the URL.
    #[default]
    Url,
    /// Credentials file of the NATS tools.
    File(PathBuf),
    /// User issued and renewed while the connection is open.
    Keys(UserKeys),
}

/// A user JWT and its seed. Clones share it; a replacement takes effect on the next connect.
#[derive(Clone)]
pub struct UserKeys(Arc<RwLock<Pair>>);

struct Pair {
    jwt: String,
    seed: String,
}

/// Permanent configuration error.
#[derive(Debug, thiserror::Error)]
pub enum NatsError {
    #[error("`{address}` is not a NATS address; write `nats://host:4222` or `tls://host:4222`")]
    Address {
        address: String,
        #[source]
        reason: BoxedError,
    },
    #[error("cannot read NATS credentials from `{path}`: {source}")]
    Credentials { path: String, source: io::Error },
    #[error("cannot start the NATS client: {0}")]
    Start(#[source] ConnectError),
}

impl UserKeys {
    pub fn new(jwt: String, seed: String) -> Self {
        Self(Arc::new(RwLock::new(Pair { jwt, seed })))
    }

    pub fn replace(&self, jwt: String, seed: String) {
        *self.0.write() = Pair { jwt, seed };
    }

    /// Signs the challenge of the server.
    fn sign(&self, nonce: &[u8]) -> Result<Auth, AuthError> {
        let pair = self.0.read();
        let key = nkeys::KeyPair::from_seed(&pair.seed).map_err(AuthError::new)?;
        let mut auth = Auth::new();
        auth.jwt = Some(pair.jwt.clone());
        auth.signature = Some(key.sign(nonce).map_err(AuthError::new)?);
        Ok(auth)
    }
}

impl std::fmt::Debug for UserKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("UserKeys(…)")
    }
}

impl NatsOptions {
    pub fn new(url: String) -> Self {
        Self { url, auth: NatsAuth::Url, ca: None, name: "stoker".to_owned(), inbox: None }
    }

    /// Validates the address.
    pub fn check(&self) -> Result<(), NatsError> {
        self.addresses().map(drop)
    }

    pub(crate) fn addresses(&self) -> Result<Vec<ServerAddr>, NatsError> {
        let mut addresses = Vec::new();
        for text in self.url.split(',').map(str::trim).filter(|text| !text.is_empty()) {
            let invalid =
                |reason: BoxedError| NatsError::Address { address: redact_credentials(text), reason };
            let address: ServerAddr = text.parse().map_err(|error: io::Error| invalid(error.into()))?;
            let is_known = matches!(address.scheme(), "nats" | "tls");
            if !is_known || address.host().is_empty() {
                return Err(invalid("unknown scheme or no host".into()));
            }
            addresses.push(address);
        }
        if addresses.is_empty() {
            return Err(NatsError::Address { address: String::new(), reason: "it is empty".into() });
        }
        Ok(addresses)
    }

    pub(crate) fn connect_options(&self) -> Result<ConnectOptions, NatsError> {
        let mut options = match &self.auth {
            NatsAuth::Url => ConnectOptions::new(),
            NatsAuth::File(path) => {
                let invalid =
                    |source: io::Error| NatsError::Credentials { path: path.display().to_string(), source };
                let text = std::fs::read_to_string(path).map_err(invalid)?;
                ConnectOptions::with_credentials(&text).map_err(invalid)?
            }
            NatsAuth::Keys(keys) => {
                let keys = keys.clone();
                ConnectOptions::with_auth_callback(move |nonce| std::future::ready(keys.sign(&nonce)))
            }
        };
        options = options.name(&self.name);
        if let Some(inbox) = &self.inbox {
            options = options.custom_inbox_prefix(inbox);
        }
        Ok(match &self.ca {
            Some(ca) => options.add_root_certificates(ca.clone()),
            None => options,
        })
    }
}

/// Returns the URL without credentials, for messages.
fn redact_credentials(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://…@{rest}"),
        (None, Some((_, rest))) => format!("…@{rest}"),
        (_, None) => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_addresses_are_reported_without_passwords() {
        let read = |url: &str| NatsOptions::new(url.to_owned()).addresses().map(|addresses| addresses.len());
        assert!(matches!(read("nats://a"), Ok(1)));
        assert!(matches!(read("tls://u:p@a:1, nats://b"), Ok(2)));
        for url in ["", " ,", "http://a", "ftp://u:hunter2@a", "nats://u:hunter2@:x"] {
            let error = read(url).expect_err(url).to_string();
            assert!(!error.contains("hunter2"), "{error}");
            assert!(error.contains("write `nats://"), "{error}");
        }
    }

    #[test]
    fn missing_credentials_file_is_reported() {
        let auth = NatsAuth::File(PathBuf::from("/no/such/file.creds"));
        let options = NatsOptions { auth, ..NatsOptions::new("nats://a".to_owned()) };
        let error = options.connect_options().err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("/no/such/file.creds"), "{error}");
    }

    #[test]
    fn keys_are_not_printed() {
        let keys = UserKeys::new("hunter2".to_owned(), "hunter2".to_owned());
        assert!(!format!("{:?}", NatsAuth::Keys(keys)).contains("hunter2"));
    }
}
