//! Letters on their way out, and those that come over the bus.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use stoker_bus::{BODY_BYTES_MAX, Bus, Pattern, Subject};
use stoker_store::StoreError;

use super::hear::hear;
use super::letter::Envelope;
use super::seal::{Seal, TAG_BYTES};
use super::{Group, Letter};
use crate::state::App;

const BATCH_MAX: usize = 1024;
/// A letter nobody fetched for so long is about the past.
const MAIL_SECONDS: i64 = 60;
/// Before trying again when database or bus do not answer.
const PAUSE: Duration = Duration::from_millis(500);
const TRIES_MAX: usize = 20;

pub(super) struct Outgoing {
    to: Arc<str>,
    body: String,
    /// Not worth a row in the database.
    is_bell: bool,
}

impl Group {
    /// Sends to one server. It may be lost.
    pub(crate) fn post(&self, to: &Arc<str>, letter: &Letter) {
        self.enqueue(to, self.spelled(letter), false);
    }

    /// The same to all others.
    pub(crate) fn post_all(&self, letter: &Letter) {
        for to in self.others() {
            self.enqueue(&to, self.spelled(letter), false);
        }
    }

    /// To all others that the bus reaches; who does not hear it looks by itself.
    pub(super) fn ring(&self, letter: &Letter) {
        if !self.is_on_bus() {
            return;
        }
        for to in self.others() {
            self.enqueue(&to, self.spelled(letter), true);
        }
    }

    fn spelled(&self, letter: &Letter) -> String {
        letter.spelled(&self.me)
    }

    fn enqueue(&self, to: &Arc<str>, body: String, is_bell: bool) {
        if self.outgoing.try_send(Outgoing { to: Arc::clone(to), body, is_bell }).is_err() {
            tracing::debug!("a letter to another server was dropped: too many wait");
        }
    }

    /// Where the bus brings what is for a server.
    fn subject(server: &str) -> Option<Subject> {
        Subject::new(["stoker", "server", server]).ok()
    }

    fn bus_to(&self, server: &str) -> Option<&(Bus, Seal)> {
        let hears = self.known().others.get(server).copied().unwrap_or(false);
        self.bus.as_ref().filter(|(bus, _)| hears && bus.is_up())
    }

    /// Whether it is on its way over the bus.
    async fn over_bus(&self, outgoing: &Outgoing) -> bool {
        let Some((bus, seal)) = self.bus_to(&outgoing.to) else { return false };
        let fits = outgoing.body.len() + TAG_BYTES <= BODY_BYTES_MAX;
        let Some(subject) = Self::subject(&outgoing.to).filter(|_| fits) else { return false };
        bus.publish(&subject, seal.close(&outgoing.to, &outgoing.body)).await.is_ok()
    }

    pub(super) fn is_on_bus(&self) -> bool {
        self.bus.as_ref().is_some_and(|(bus, _)| bus.is_up())
    }
}

/// Sends what waits, until the server ends.
pub(super) async fn send(app: &App) {
    let queue = app.group.queue.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(mut queue) = queue else { return };
    let mut batch = Vec::new();
    while queue.recv_many(&mut batch, BATCH_MAX).await > 0 {
        let mut mail = Vec::new();
        for outgoing in batch.drain(..) {
            if !app.group.over_bus(&outgoing).await && !outgoing.is_bell {
                mail.push((outgoing.to.to_string(), outgoing.body));
            }
        }
        if !mail.is_empty() {
            put(app, &mail).await;
            // An answer may come soon.
            app.group.look.notify_one();
        }
    }
}

async fn put(app: &App, mail: &[(String, String)]) {
    for _ in 0..TRIES_MAX {
        let now = app.clock.now();
        match app.store.mail_put(mail, now.plus_seconds(MAIL_SECONDS), now).await {
            Ok(()) => return,
            Err(StoreError::Unavailable(_)) => tokio::time::sleep(PAUSE).await,
            Err(error) => {
                tracing::warn!(error = %error, "letters to other servers were not kept");
                return;
            }
        }
    }
}

/// Not through the queue, which nobody empties any more when the server ends.
pub(super) async fn say_at_once(app: &App, letter: &Letter) {
    let body = app.group.spelled(letter);
    let mail: Vec<(String, String)> =
        app.group.others().iter().map(|to| (to.to_string(), body.clone())).collect();
    if !mail.is_empty() {
        put(app, &mail).await;
    }
}

/// Takes what comes over the bus, until the server ends.
pub(super) async fn listen(app: &App) {
    let Some((bus, seal)) = &app.group.bus else { return };
    let Some(subject) = Group::subject(&app.owner) else { return };
    let pattern = Pattern::from(subject);
    loop {
        match bus.subscribe(&pattern).await {
            Ok(mut letters) => {
                while let Some(message) = letters.next().await {
                    let Some(letter) = seal.open(&app.owner, &message.body) else {
                        tracing::warn!(
                            "somebody who is no server of this group writes to this one over the bus"
                        );
                        continue;
                    };
                    if let Some(envelope) = Envelope::decode(letter) {
                        hear(app, envelope).await;
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "nothing is heard over the bus"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}
