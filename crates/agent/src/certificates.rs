//! Client certificate of the agent: persisted, and renewed before it expires.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use stoker_model::{ErrorChain, Micros};
use stoker_tls::{AgentKey, ClientIdentity, TlsError, write_private};
use stoker_wire::join::{CERTIFICATE_PATH, CertificateRequest, CertificateResponse};

use crate::backoff::{Backoff, BackoffLimits};
use crate::clock;
use crate::endpoint::Endpoint;
use crate::http::{HttpError, Reply, post};

/// Maximum sleep between expiry checks, so that a change of the system clock is noticed.
const CHECK_INTERVAL_MAX: Duration = Duration::from_hours(1);
/// Backoff between renewal attempts.
const RENEW_BACKOFF: BackoffLimits =
    BackoffLimits { min: Duration::from_secs(1), max: Duration::from_mins(10) };

/// Error while renewing a certificate.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RenewError {
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("cannot reach the server")]
    Unavailable(#[from] HttpError),
    #[error("the server refused: {0}")]
    Refused(String),
    #[error("malformed response")]
    Malformed(#[from] serde_json::Error),
}

/// Certificate and key of one agent.
pub(crate) struct Certificates {
    file: PathBuf,
    identity: Arc<ClientIdentity>,
}

impl Certificates {
    /// Loads the certificate from `file`. An unusable file is logged and ignored; the agent then requests a
    /// new certificate.
    pub(crate) fn open(file: PathBuf) -> Self {
        let identity = Arc::new(ClientIdentity::default());
        if let Ok(text) = std::fs::read_to_string(&file)
            && let Err(error) = identity.set(&text, &text)
        {
            tracing::warn!(error = %ErrorChain(&error), file = %file.display(), "ignoring unusable agent certificate");
        }
        Self { file, identity }
    }

    pub(crate) fn identity(&self) -> Arc<ClientIdentity> {
        Arc::clone(&self.identity)
    }

    /// Persists a certificate and uses it for new connections.
    pub(crate) fn store(&self, chain: &str, key: &AgentKey) -> Result<(), TlsError> {
        // Certificate and key share a file, so that a crash cannot leave a certificate with another one's
        // key.
        write_private(&self.file, &format!("{}{chain}", key.pem()))?;
        self.identity.set(chain, &key.pem()).map(drop)
    }

    /// Reports whether there is a valid certificate. An expired certificate is no longer sent: the server would
    /// reject the TLS handshake before reading the credential.
    pub(crate) fn is_valid(&self) -> bool {
        let is_valid = self.identity.validity().is_some_and(|validity| validity.contains(unix_seconds()));
        if !is_valid {
            self.identity.clear();
        }
        is_valid
    }

    /// Requests a new certificate for a new key.
    pub(crate) async fn renew(&self, endpoint: &Endpoint, credential: &str) -> Result<(), RenewError> {
        self.is_valid();
        let key = AgentKey::new()?;
        let certificate_request = key.request()?;
        let request = CertificateRequest { certificate_request };
        let request = serde_json::to_vec(&request)?;
        let body = match post(endpoint, CERTIFICATE_PATH, Some(credential), request).await {
            Reply::Success(body) => body,
            Reply::Unavailable(error) => return Err(error.into()),
            Reply::Refused(reason) => return Err(RenewError::Refused(reason)),
        };
        let response: CertificateResponse = serde_json::from_slice(&body)?;
        Ok(self.store(&response.certificate, &key)?)
    }

    /// Renews the certificate before it expires, until cancelled. An agent without a certificate requests one
    /// when the server rejects a connection without it.
    pub(crate) async fn renew_periodically(&self, endpoint: &Endpoint, credential: &str) {
        let mut backoff = Backoff::new(RENEW_BACKOFF);
        loop {
            let seconds_until_renewal =
                self.identity.validity().map(|validity| validity.renew_at() - unix_seconds());
            let delay = match seconds_until_renewal {
                None => CHECK_INTERVAL_MAX,
                Some(seconds @ 1..) => Duration::from_secs(seconds.unsigned_abs()).min(CHECK_INTERVAL_MAX),
                Some(_) => match self.renew(endpoint, credential).await {
                    Ok(()) => {
                        tracing::info!("renewed the agent certificate");
                        backoff.reset();
                        RENEW_BACKOFF.min
                    }
                    Err(error) => {
                        tracing::warn!(error = %ErrorChain(&error), "cannot renew the agent certificate; will retry");
                        backoff.next()
                    }
                },
            };
            tokio::time::sleep(delay).await;
        }
    }
}

fn unix_seconds() -> i64 {
    clock::now().0.div_euclid(Micros::SECOND)
}
