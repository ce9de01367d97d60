//! Messages to webhooks.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use stoker_model::DeliveryStatus;

use super::book::Book;
use crate::state::App;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabels {
    outcome: String,
}

pub(crate) struct Webhooks {
    tries: Family<OutcomeLabels, Counter>,
    waiting: Gauge,
}

impl Webhooks {
    pub(super) fn new(book: &mut Book) -> Self {
        Self {
            tries: book.counters(
                "webhook_deliveries",
                &["outcome"],
                "Tries to tell a webhook: `delivered`, `retried` later, `given_up`",
            ),
            waiting: book
                .gauge("webhook_deliveries_waiting", "Messages to webhooks that are not delivered yet"),
        }
    }

    pub(crate) fn tried(&self, status: DeliveryStatus) {
        let outcome = match status {
            DeliveryStatus::Delivered => "delivered",
            DeliveryStatus::Pending => "retried",
            DeliveryStatus::Failed => "given_up",
        };
        self.tries.get_or_create(&OutcomeLabels { outcome: outcome.to_owned() }).inc();
    }

    /// Numbers are asked for also when the database is away: then this one stays as it was.
    pub(super) async fn read(&self, app: &App) {
        let read = async { app.store.read().await?.deliveries_waiting().await };
        if let Ok(n_waiting) = read.await {
            self.waiting.set(n_waiting);
        }
    }
}
