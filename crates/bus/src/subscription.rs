//! Subscriptions and message delivery to them.

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

/// Stream of messages. Dropping it unsubscribes.
pub struct Subscription {
    pub(crate) messages: mpsc::Receiver<Message>,
}

impl Subscription {
    /// Returns the next message; `None` once the bus is closed.
    pub async fn next(&mut self) -> Option<Message> {
        self.messages.recv().await
    }
}

/// Sending end of a subscription.
pub(crate) struct Listener {
    sender: mpsc::Sender<Message>,
    counts: Arc<Counts>,
}

impl Listener {
    pub(crate) fn new(sender: mpsc::Sender<Message>, counts: Arc<Counts>) -> Self {
        Self { sender, counts }
    }

    /// Delivers without blocking. A slow subscriber misses the message.
    pub(crate) fn deliver(&self, message: Message) {
        match self.sender.try_send(message) {
            Ok(()) => self.counts.add_received(),
            Err(TrySendError::Full(_)) => self.counts.add_lost(),
            Err(TrySendError::Closed(_)) => {}
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    pub(crate) async fn closed(&self) {
        self.sender.closed().await;
    }
}
