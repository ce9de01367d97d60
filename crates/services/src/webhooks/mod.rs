//! Notifications and webhooks.
//!
//! Deliveries are written to an outbox in the transaction of the change they report (`notifications` builds
//! them) and sent by the server that claims them first (`sender`). Delivery is at least once; receivers
//! deduplicate by the delivery id.

mod metrics;
mod notifications;
mod records;
mod sender;
mod signature;

use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::Mutex;
use stoker_model::WebhookId;
use stoker_settings::Server;
use stoker_store::Store;
use tokio::sync::Notify;

pub use self::metrics::DeliveryMetrics;
pub use self::notifications::{Replacement, node_news, replaced_news, run_news, test_message};
pub use self::sender::{INTERVAL, run};
use crate::clock::Clock;
use crate::modules::ModuleKeys;

/// The outbox of webhooks. Cloning is cheap.
#[derive(Clone)]
pub struct WebhookOutbox {
    store: Store,
    settings: Arc<Server>,
    clock: Clock,
    keys: ModuleKeys,
    pub metrics: DeliveryMetrics,
    bell: Arc<Notify>,
    busy: Arc<Mutex<BTreeSet<WebhookId>>>,
}

impl WebhookOutbox {
    /// Creates the outbox. `keys` decrypt the secrets of webhooks.
    pub fn new(store: Store, settings: Arc<Server>, clock: Clock, keys: ModuleKeys) -> Self {
        let (metrics, bell, busy) = (DeliveryMetrics::default(), Arc::default(), Arc::default());
        Self { store, settings, clock, keys, metrics, bell, busy }
    }

    /// Wakes the sender: there may be a delivery to send.
    pub fn notify(&self) {
        self.bell.notify_one();
    }

    /// Webhooks with a delivery in flight.
    fn busy(&self) -> Vec<WebhookId> {
        self.busy.lock().iter().copied().collect()
    }

    fn set_busy(&self, webhook: WebhookId, is_busy: bool) {
        let mut busy = self.busy.lock();
        if is_busy {
            busy.insert(webhook);
        } else {
            busy.remove(&webhook);
        }
    }
}
