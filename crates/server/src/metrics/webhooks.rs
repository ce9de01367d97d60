//! Webhook delivery metrics.

use prometheus_client::metrics::gauge::Gauge;
use stoker_services::webhooks::DeliveryMetrics;
use stoker_store::Store;

use super::book::Book;

pub(super) struct Webhooks {
    waiting: Gauge,
}

impl Webhooks {
    pub(super) fn new(book: &mut Book, counters: &DeliveryMetrics) -> Self {
        book.enter(
            "webhook_deliveries",
            "counter",
            &["outcome"],
            "Webhook delivery attempts: `delivered`, `retried` later, `given_up`",
            counters.attempts.clone(),
        );
        Self { waiting: book.gauge("webhook_deliveries_waiting", "Pending webhook deliveries") }
    }

    /// Updates the gauge. A scrape must work while the database is unavailable: the gauge then keeps its last
    /// value.
    pub(super) async fn read(&self, store: &Store) {
        let read = async { store.read().await?.deliveries_pending().await };
        if let Ok(n_waiting) = read.await {
            self.waiting.set(n_waiting);
        }
    }
}
