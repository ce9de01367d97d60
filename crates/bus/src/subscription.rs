//! What a listener holds, and what reaches it.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use crate::counts::Counts;
use crate::subject::Subject;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub subject: Subject,
    pub body: Vec<u8>,
}

/// Messages as they come. Dropped, it listens no longer.
pub struct Subscription {
    pub(crate) messages: mpsc::Receiver<Message>,
}

impl Subscription {
    /// The next message; `None` when the bus is gone for good.
    pub async fn next(&mut self) -> Option<Message> {
        self.messages.recv().await
    }
}

/// The other end of a subscription.
pub(crate) struct Listener {
    sender: mpsc::Sender<Message>,
    counts: Arc<Counts>,
}

impl Listener {
    pub(crate) fn new(sender: mpsc::Sender<Message>, counts: Arc<Counts>) -> Self {
        Self { sender, counts }
    }

    /// Who is too slow misses it; nobody waits for it.
    pub(crate) fn hand(&self, message: Message) {
        match self.sender.try_send(message) {
            Ok(()) => self.counts.received(),
            Err(TrySendError::Full(_)) => self.counts.lost(),
            Err(TrySendError::Closed(_)) => {}
        }
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.sender.is_closed()
    }

    pub(crate) async fn gone(&self) {
        self.sender.closed().await;
    }
}
