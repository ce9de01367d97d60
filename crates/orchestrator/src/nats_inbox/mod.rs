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
    #[error("its credential is no longer good")]
    InvalidCredential,
    #[error("it makes no sense")]
    Malformed,
    #[error("this NATS lets everybody in, so nobody knows who it is; set it up with `stoker nats init`")]
    Unauthenticated,
}
