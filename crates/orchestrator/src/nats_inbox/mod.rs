//! Agent sessions over NATS, and consumption of results from the NATS result stream.

mod host;
mod results;

use stoker_bus::nats::AuthorityError;
use stoker_bus::{BusError, SubjectError};
use stoker_store::StoreError;

pub(crate) use host::host;
pub(crate) use results::take_results;

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
