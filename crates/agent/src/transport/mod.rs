//! Ways between an agent and a server. Each carries the same messages.

pub mod channel;
pub mod nats;
pub mod nats_first;
pub mod stdio;
pub mod websocket;

use std::pin::Pin;

use stoker_engine::session::{FromAgent, ToAgent};
use tokio::sync::mpsc;

use crate::keeping::Keeping;

/// Messages on their way; a side that is faster than the other waits.
pub(crate) const QUEUE: usize = 64;

/// A connection that stands. It is over when nothing can be received any more.
#[derive(Debug)]
pub struct Connection {
    pub send: mpsc::Sender<FromAgent>,
    pub receive: mpsc::Receiver<ToAgent>,
}

pub type Connecting<'a> = Pin<Box<dyn Future<Output = Result<Connection, TransportError>> + Send + 'a>>;

/// How an agent reaches its server. The agent begins, always.
pub trait Transport: Send {
    fn connect(&mut self) -> Connecting<'_>;

    /// Who is given every result besides, where somebody can keep them.
    fn keeping(&self) -> Option<Keeping> {
        None
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// Trying again may help.
    #[error("{0}")]
    Away(String),
    /// There will be no further connection: finish what runs, and end.
    #[error("{0}")]
    Over(String),
}
