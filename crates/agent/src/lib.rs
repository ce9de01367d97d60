//! The Stoker agent: connects to a server, executes attempts and journals their results.
//!
//! Owns the I/O: disk, network, clock and processes. Makes no decisions: the session state machine is in
//! `stoker-engine`, the behaviour of task types in `stoker-tasks`, the message encoding in `stoker-wire`.

mod backoff;
mod certificates;
mod clock;
mod driver;
mod endpoint;
pub mod facts;
mod http;
mod join;
mod journal;

mod program;
mod result_queue;
pub mod ssh;
mod state;
pub mod transport;

pub use backoff::BackoffLimits;
pub use driver::{DriverSettings, run};
pub use endpoint::{AddressError, ConnectError, Endpoint, EndpointError};
pub use http::HttpError;
pub use join::{JoinError, join};
pub use journal::{JournalError, JournalFile};
pub use program::main;
pub use result_queue::ResultQueue;
pub use state::{Membership, StateError, StateFolder};

#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error(transparent)]
    State(#[from] StateError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    #[error(transparent)]
    Join(#[from] JoinError),
    #[error(transparent)]
    Nats(#[from] stoker_bus::NatsError),
    #[error(transparent)]
    Tls(#[from] stoker_tls::TlsError),
    #[error("{0}")]
    Usage(String),
    #[error("cannot start: {0}")]
    Start(#[source] std::io::Error),
}
