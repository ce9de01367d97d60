//! Execution on a node: an agent connects to its server, carries out what it is sent, and forgets nothing.
//!
//! Decides nothing that matters: what happens to an attempt is up to the session (`stoker-engine`), what a task does is up to
//! its type (`stoker-tasks`), how a message is spelled is up to the wire (`stoker-wire`). Here are the disk, the network,
//! the clock and the processes.

mod ask;
mod backoff;
mod certificates;
mod clock;
mod driver;
mod endpoint;
pub mod facts;
mod join;
mod journal;
mod keeping;
mod program;
pub mod ssh;
mod state;
pub mod transport;

pub use driver::{Settings, run};
pub use endpoint::{Endpoint, EndpointError};
pub use join::{JoinError, join};
pub use journal::{JournalError, JournalFile};
pub use keeping::Keeping;
pub use program::main;
pub use state::{Membership, StateError, StateFolder};

/// Why an agent does not run.
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
