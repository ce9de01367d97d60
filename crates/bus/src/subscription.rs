//! What a listener holds.

use tokio::sync::mpsc;

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
