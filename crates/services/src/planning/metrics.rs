//! Planning metrics; `server` registers them.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct PlanLabels {
    pub outcome: String,
}

#[derive(Clone, Debug)]
pub struct PlanMetrics {
    pub plans: Family<PlanLabels, Counter>,
    pub durations: Histogram,
    pub instances: Histogram,
}

impl Default for PlanMetrics {
    fn default() -> Self {
        Self {
            plans: Family::default(),
            // 1 ms to 131 s.
            durations: Histogram::new(exponential_buckets(0.001, 2.0, 18)),
            // Buckets from 1 to 4 million.
            instances: Histogram::new(exponential_buckets(1.0, 4.0, 12)),
        }
    }
}

impl PlanMetrics {
    /// `n_instances` is `None` if planning failed.
    pub fn planned(&self, took: Duration, n_instances: Option<usize>) {
        self.durations.observe(took.as_secs_f64());
        let outcome = if n_instances.is_some() { "made" } else { "refused" };
        self.plans.get_or_create(&PlanLabels { outcome: outcome.to_owned() }).inc();
        if let Some(n_instances) = n_instances {
            self.instances.observe(n_instances as f64);
        }
    }
}
