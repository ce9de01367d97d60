//! Where NATS is, and who we are to it.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use async_nats::{Auth, AuthError, ConnectOptions, ServerAddr};

#[derive(Clone, Debug)]
pub struct NatsOptions {
    /// `nats://` or `tls://`, with user and password where NATS wants them; several have commas between them.
    pub url: String,
    pub auth: NatsAuth,
    /// Certificates to trust besides those of the system, for `tls://`.
    pub ca: Option<PathBuf>,
    /// How the connection is called in the lists of NATS.
    pub name: String,
    /// Under which answers to this connection come, where it may not listen anywhere else.
    pub inbox: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub enum NatsAuth {
    /// What the URL says.
    #[default]
    Url,
    /// A file as NATS tools write it.
    File(PathBuf),
    /// A user that is made and renewed while the connection lives.
    Keys(UserKeys),
}

/// A token and the key that proves it. Whoever has a clone can replace it; it is used from the next connection on.
#[derive(Clone)]
pub struct UserKeys(Arc<RwLock<Pair>>);

struct Pair {
    jwt: String,
    seed: String,
}

/// Why there can be no connection, however long one waits.
#[derive(Debug, thiserror::Error)]
pub enum NatsError {
    #[error("`{shown}` is no address of NATS ({reason}); write `nats://host:4222` or `tls://host:4222`")]
    Address { shown: String, reason: String },
    #[error("cannot read credentials of NATS from `{path}`: {reason}")]
    Credentials { path: String, reason: String },
    #[error("cannot start the client of NATS: {0}")]
    Start(String),
}

impl UserKeys {
    pub fn new(jwt: String, seed: String) -> Self {
        Self(Arc::new(RwLock::new(Pair { jwt, seed })))
    }

    pub fn replace(&self, jwt: String, seed: String) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Pair { jwt, seed };
    }

    /// The answer to a challenge of the server.
    fn answer(&self, nonce: &[u8]) -> Result<Auth, AuthError> {
        let pair = self.0.read().unwrap_or_else(PoisonError::into_inner);
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

    /// Whether the address is one.
    pub fn check(&self) -> Result<(), NatsError> {
        self.addresses().map(drop)
    }

    pub(crate) fn addresses(&self) -> Result<Vec<ServerAddr>, NatsError> {
        let mut addresses = Vec::new();
        for part in self.url.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let wrong = |reason: String| NatsError::Address { shown: without_password(part), reason };
            let address: ServerAddr =
                part.parse().map_err(|error: std::io::Error| wrong(error.to_string()))?;
            let is_known = matches!(address.scheme(), "nats" | "tls");
            if !is_known || address.host().is_empty() {
                return Err(wrong("of a kind that is not known".to_owned()));
            }
            addresses.push(address);
        }
        if addresses.is_empty() {
            return Err(NatsError::Address { shown: String::new(), reason: "it is empty".to_owned() });
        }
        Ok(addresses)
    }

    pub(crate) fn prepared(&self) -> Result<ConnectOptions, NatsError> {
        let mut options = match &self.auth {
            NatsAuth::Url => ConnectOptions::new(),
            NatsAuth::File(path) => {
                let wrong =
                    |reason: String| NatsError::Credentials { path: path.display().to_string(), reason };
                let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
                ConnectOptions::with_credentials(&text).map_err(|error| wrong(error.to_string()))?
            }
            NatsAuth::Keys(keys) => {
                let keys = keys.clone();
                ConnectOptions::with_auth_callback(move |nonce| std::future::ready(keys.answer(&nonce)))
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

/// An address that may be shown.
fn without_password(url: &str) -> String {
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
    fn addresses_are_read_and_their_mistakes_named_without_passwords() {
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
    fn a_credentials_file_that_is_none_is_named() {
        let auth = NatsAuth::File(PathBuf::from("/no/such/file.creds"));
        let options = NatsOptions { auth, ..NatsOptions::new("nats://a".to_owned()) };
        let error = options.prepared().err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("/no/such/file.creds"), "{error}");
    }

    #[test]
    fn keys_are_not_printed() {
        let keys = UserKeys::new("hunter2".to_owned(), "hunter2".to_owned());
        assert!(!format!("{:?}", NatsAuth::Keys(keys)).contains("hunter2"));
    }
}
