//! Webhook delivery metrics; `server` registers them.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use stoker_model::DeliveryStatus;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct DeliveryLabels {
    pub outcome: String,
}

#[derive(Clone, Debug, Default)]
pub struct DeliveryMetrics {
    pub attempts: Family<DeliveryLabels, Counter>,
}

impl DeliveryMetrics {
    pub fn attempted(&self, status: DeliveryStatus) {
        let outcome = match status {
            DeliveryStatus::Delivered => "delivered",
            DeliveryStatus::Pending => "retried",
            DeliveryStatus::Failed => "given_up",
        };
        self.attempts.get_or_create(&DeliveryLabels { outcome: outcome.to_owned() }).inc();
    }
}
