//! Outgoing messages: over the bus if it reaches the recipient, otherwise through the database.

use std::sync::Arc;
use std::time::Duration;

use stoker_bus::{BODY_BYTES_MAX, Bus, Subject};
use stoker_model::ErrorChain;
use stoker_services::background::TaskMonitor;
use stoker_store::StoreError;

use super::seal::{Seal, TAG_BYTES};
use super::{PeerMessage, Peers};

const BATCH_MAX: usize = 1024;
/// TTL of a message in the database, in seconds. Older messages are outdated: senders have repeated them.
const MESSAGE_TTL_SECONDS: i64 = 60;
/// Delay between retries while the database is unavailable; after [`TRIES_MAX`] retries the batch is dropped.
const PAUSE: Duration = Duration::from_millis(500);
const TRIES_MAX: usize = 20;

pub(super) struct Outgoing {
    to: Arc<str>,
    body: String,
    /// Wake-up notification: dropped if the bus does not reach the recipient.
    is_notification: bool,
}

impl Peers {
    /// Queues a message to one server. Best effort: the message may be lost.
    pub(crate) fn send(&self, to: &Arc<str>, message: &PeerMessage) {
        self.enqueue(to, self.encode(message), false);
    }

    /// Queues a message to all other servers. Best effort.
    pub(crate) fn send_all(&self, message: &PeerMessage) {
        for to in self.others() {
            self.enqueue(&to, self.encode(message), false);
        }
    }

    /// Queues a wake-up notification to the servers that the bus reaches. The other servers poll.
    pub(crate) fn notify_all(&self, message: &PeerMessage) {
        if !self.is_on_bus() {
            return;
        }
        for to in self.others() {
            self.enqueue(&to, self.encode(message), true);
        }
    }

    /// Writes a message to all other servers directly, for use during shutdown, when the send queue is no
    /// longer processed.
    pub(crate) async fn send_now(&self, message: &PeerMessage) {
        let body = self.encode(message);
        let mail: Vec<(String, String)> =
            self.others().iter().map(|to| (to.to_string(), body.clone())).collect();
        if !mail.is_empty() {
            _ = self.put(&mail).await;
        }
    }

    /// Sends queued messages in batches. Never returns.
    pub(crate) async fn send_queued(&self, monitor: &TaskMonitor) {
        let queue = self.queue.lock().take();
        let Some(mut queue) = queue else { return };
        let mut batch = Vec::new();
        while queue.recv_many(&mut batch, BATCH_MAX).await > 0 {
            monitor.start();
            let mut mail = Vec::new();
            for outgoing in batch.drain(..) {
                if !self.over_bus(&outgoing).await && !outgoing.is_notification {
                    mail.push((outgoing.to.to_string(), outgoing.body));
                }
            }
            let sent = if mail.is_empty() { Ok(()) } else { self.put(&mail).await };
            monitor.finish(&sent);
            if !mail.is_empty() {
                // Poll sooner: a response may follow.
                self.poll_now.notify_one();
            }
        }
    }

    /// Returns the subject on which a server receives peer messages.
    pub(crate) fn subject(server: &str) -> Option<Subject> {
        Subject::new(["stoker", "server", server]).ok()
    }

    pub(crate) fn is_on_bus(&self) -> bool {
        self.bus.as_ref().is_some_and(|(bus, _)| bus.is_connected())
    }

    fn encode(&self, message: &PeerMessage) -> String {
        message.encode(&self.context.owner)
    }

    fn enqueue(&self, to: &Arc<str>, body: String, is_bell: bool) {
        if self.outgoing.try_send(Outgoing { to: Arc::clone(to), body, is_notification: is_bell }).is_err() {
            tracing::debug!("dropped a message to a peer: the queue is full");
        }
    }

    fn bus_to(&self, server: &str) -> Option<&(Bus, Seal)> {
        let hears = self.table().others.get(server).copied().unwrap_or(false);
        self.bus.as_ref().filter(|(bus, _)| hears && bus.is_connected())
    }

    /// Publishes a message on the bus. Returns `false` if the message must go through the database.
    async fn over_bus(&self, outgoing: &Outgoing) -> bool {
        let Some((bus, seal)) = self.bus_to(&outgoing.to) else { return false };
        let fits = outgoing.body.len() + TAG_BYTES <= BODY_BYTES_MAX;
        let Some(subject) = Self::subject(&outgoing.to).filter(|_| fits) else { return false };
        bus.publish(&subject, seal.close(&outgoing.to, &outgoing.body)).await.is_ok()
    }

    async fn put(&self, mail: &[(String, String)]) -> Result<(), StoreError> {
        let mut n_tries = 0;
        loop {
            let now = self.context.clock.now();
            match self.context.store.mail_put(mail, now.plus_seconds(MESSAGE_TTL_SECONDS), now).await {
                Err(StoreError::Unavailable(_)) if n_tries < TRIES_MAX => {
                    n_tries += 1;
                    tokio::time::sleep(PAUSE).await;
                }
                Err(error) => {
                    tracing::warn!(error = %ErrorChain(&error), "cannot store messages to peers");
                    return Err(error);
                }
                Ok(()) => return Ok(()),
            }
        }
    }
}
