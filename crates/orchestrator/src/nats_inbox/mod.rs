//! Agent sessions over NATS, and consumption of results from the NATS result stream.

mod host;
mod results;

use std::time::Duration;

use stoker_bus::nats::AuthorityError;
use stoker_bus::{BusError, Subject, SubjectError};
use stoker_model::AgentUid;
use stoker_store::StoreError;

use crate::nats::NatsUsers;
use crate::orchestrator::Orchestrator;

pub(crate) use host::host;
pub(crate) use results::take_results;

/// Interval between attempts to subscribe again after an error.
const LISTEN_RETRY_INTERVAL: Duration = Duration::from_secs(3);

/// Agent that published a message.
struct Sender {
    uid: AgentUid,
    /// Part of the agent's subjects, derived from its credential.
    key: String,
    /// Digest of the agent's current credential, in hexadecimal.
    digest: String,
}

/// Identifies the agent by the subject of its message. NATS restricts each agent to subjects with its own key; the key must
/// be derived from the agent's current credential, so messages under revoked credentials are rejected.
async fn authenticate(
    orchestrator: &Orchestrator,
    users: &NatsUsers,
    subject: &Subject,
) -> Result<Sender, NatsReject> {
    let words: Vec<&str> = subject.as_str().split('.').collect();
    let [_, _, uid, key, _] = words[..] else { return Err(NatsReject::Malformed) };
    let uid = AgentUid::from(uid);
    let digest = orchestrator
        .context
        .store
        .read()
        .await?
        .agent_digest(&uid)
        .await?
        .ok_or(NatsReject::InvalidCredential)?;
    if users.key_of(&uid, &digest)? != key {
        return Err(NatsReject::InvalidCredential);
    }
    Ok(Sender { uid, key: key.to_owned(), digest })
}

/// Reason to reject a message from NATS.
#[derive(Debug, thiserror::Error)]
enum NatsReject {
    #[error(transparent)]
    Bus(#[from] BusError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Subject(#[from] SubjectError),
    #[error(transparent)]
    Keys(#[from] AuthorityError),
    #[error("the agent's credential is no longer valid")]
    InvalidCredential,
    #[error("malformed message")]
    Malformed,
    #[error(
        "this NATS server accepts unauthenticated clients, so agents cannot be identified; configure it with `stoker nats init`"
    )]
    Unauthenticated,
}
