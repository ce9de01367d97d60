//! Transports between an agent and a server. All carry the same messages.

pub mod channel;
pub mod nats;
pub mod nats_first;
pub mod stdio;
pub mod websocket;

use std::error::Error;
use std::pin::Pin;

use stoker_engine::session::{FromAgent, ToAgent};
use tokio::sync::mpsc;

use crate::result_queue::ResultQueue;

/// Capacity of message channels; a full channel applies back-pressure.
pub(crate) const QUEUE: usize = 64;

/// Open connection. The connection has ended when `receive` is closed.
#[derive(Debug)]
pub struct Connection {
    pub send: mpsc::Sender<FromAgent>,
    pub receive: mpsc::Receiver<ToAgent>,
}

pub type Connecting<'a> = Pin<Box<dyn Future<Output = Result<Connection, TransportError>> + Send + 'a>>;

/// Opens connections from the agent to its server; the server never connects to the agent.
pub trait Transport: Send {
    fn connect(&mut self) -> Connecting<'_>;

    /// Returns the queue for durable publication of results, if the transport has a durable store.
    fn result_queue(&self) -> Option<ResultQueue> {
        None
    }
}

#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// Transient failure; a retry may succeed.
    #[error(transparent)]
    Unavailable(Box<dyn Error + Send + Sync>),
    /// No further connection is possible: finish running attempts and exit.
    #[error("{0}")]
    Closed(&'static str),
}

impl TransportError {
    pub(crate) fn unavailable(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Unavailable(Box::new(error))
    }
}
