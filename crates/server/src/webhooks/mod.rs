//! What happens is told to people and to webhooks.
//!
//! Messages are written down in the transaction of what they tell of (`news` says what), and sent afterwards by
//! whichever server takes them first (`sender`). Whoever dies in between has sent nothing twice that a receiver cannot
//! tell by its number.

mod news;
mod sender;
mod signature;

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use stoker_model::WebhookId;
use tokio::sync::Notify;

pub(crate) use self::news::{node_news, run_news, test_news};
pub(crate) use self::sender::send;

/// The sender, as the rest of the server sees it.
#[derive(Default)]
pub(crate) struct Webhooks {
    bell: Notify,
    busy: Mutex<BTreeSet<WebhookId>>,
}

impl Webhooks {
    /// There may be something to send.
    pub(crate) fn ring(&self) {
        self.bell.notify_one();
    }

    /// Webhooks to which something is being sent.
    fn busy(&self) -> Vec<WebhookId> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }

    fn set_busy(&self, webhook: WebhookId, is_busy: bool) {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        if is_busy {
            busy.insert(webhook);
        } else {
            busy.remove(&webhook);
        }
    }
}
