//! The certificate that an agent shows its server: kept on disk, renewed before it expires.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use stoker_model::Micros;
use stoker_tls::{AgentKey, ClientIdentity, TlsError, write_private};
use stoker_wire::join::{CERTIFICATE_PATH, CertificateAnswer, CertificateRequest};

use crate::ask::{Asked, ask};
use crate::backoff::Backoff;
use crate::clock;
use crate::endpoint::Endpoint;

/// The longest it waits before it looks at the clock again, which somebody may have set.
const LOOK_MAX: Duration = Duration::from_hours(1);
/// Between two tries to get another.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(10));

/// Certificate and key of one agent.
pub(crate) struct Certificates {
    file: PathBuf,
    identity: Arc<ClientIdentity>,
}

impl Certificates {
    /// Takes up what is in the file. What makes no sense there is as good as nothing: another is asked for.
    pub(crate) fn open(file: PathBuf) -> Self {
        let identity = Arc::new(ClientIdentity::default());
        if let Ok(text) = std::fs::read_to_string(&file)
            && let Err(error) = identity.set(&text, &text)
        {
            tracing::warn!(%error, file = %file.display(), "the certificate of this agent cannot be used");
        }
        Self { file, identity }
    }

    pub(crate) fn identity(&self) -> Arc<ClientIdentity> {
        Arc::clone(&self.identity)
    }

    /// From now on the agent shows this one, also after it is started again.
    pub(crate) fn keep(&self, chain: &str, key: &AgentKey) -> Result<(), TlsError> {
        // Together in one file, so that one never goes with another's key.
        write_private(&self.file, &format!("{}{chain}", key.pem()))?;
        self.identity.set(chain, &key.pem()).map(drop)
    }

    /// Whether there is one that is good now. One that has expired is not shown: the server would hear nothing else.
    pub(crate) fn is_good(&self) -> bool {
        let is_good = self.identity.validity().is_some_and(|validity| validity.holds(seconds()));
        if !is_good {
            self.identity.clear();
        }
        is_good
    }

    /// Asks for another, with a new key.
    pub(crate) async fn renew(&self, endpoint: &Endpoint, credential: &str) -> Result<(), String> {
        self.is_good();
        let key = AgentKey::new().map_err(|error| error.to_string())?;
        let certificate_request = key.request().map_err(|error| error.to_string())?;
        let request = CertificateRequest { certificate_request };
        let request = serde_json::to_vec(&request).map_err(|error| error.to_string())?;
        let body = match ask(endpoint, CERTIFICATE_PATH, Some(credential), request).await {
            Asked::Answer(body) => body,
            Asked::Away(reason) | Asked::Refused(reason) => return Err(reason),
        };
        let answer: CertificateAnswer = serde_json::from_slice(&body).map_err(|error| error.to_string())?;
        self.keep(&answer.certificate, &key).map_err(|error| error.to_string())
    }

    /// Renews in time, for as long as the agent runs. An agent without a certificate asks when it is told to show one.
    pub(crate) async fn look_after(&self, endpoint: &Endpoint, credential: &str) {
        let mut backoff = Backoff::new(PAUSES);
        loop {
            let due = self.identity.validity().map(|validity| validity.renew_at() - seconds());
            let pause = match due {
                None => LOOK_MAX,
                Some(left @ 1..) => Duration::from_secs(left.unsigned_abs()).min(LOOK_MAX),
                Some(_) => match self.renew(endpoint, credential).await {
                    Ok(()) => {
                        tracing::info!("the certificate of this agent was renewed");
                        backoff.reset();
                        PAUSES.0
                    }
                    Err(why) => {
                        tracing::warn!(why, "the certificate of this agent was not renewed yet");
                        backoff.next()
                    }
                },
            };
            tokio::time::sleep(pause).await;
        }
    }
}

fn seconds() -> i64 {
    clock::now().0.div_euclid(Micros::SECOND)
}
