//! Registration of metrics, with the rows of the documentation.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Metric, Registry};

const PREFIX: &str = "stoker";

pub(super) struct Book {
    pub(super) registry: Registry,
    /// Exposed name, type, labels, help.
    pub(super) rows: Vec<[String; 4]>,
}

/// A family of histograms.
pub(super) type Histograms<L> = Family<L, Histogram, fn() -> Histogram>;

impl Book {
    pub(super) fn new() -> Self {
        Self { registry: Registry::with_prefix(PREFIX), rows: Vec::new() }
    }

    pub(super) fn counter(&mut self, name: &str, help: &str) -> Counter {
        self.enter(name, "counter", &[], help, Counter::default())
    }

    pub(super) fn counters<L>(&mut self, name: &str, labels: &[&str], help: &str) -> Family<L, Counter>
    where
        Family<L, Counter>: Metric + Clone + Default,
    {
        self.enter(name, "counter", labels, help, Family::default())
    }

    pub(super) fn gauge(&mut self, name: &str, help: &str) -> Gauge {
        self.enter(name, "gauge", &[], help, Gauge::default())
    }

    pub(super) fn gauges<L>(&mut self, name: &str, labels: &[&str], help: &str) -> Family<L, Gauge>
    where
        Family<L, Gauge>: Metric + Clone + Default,
    {
        self.enter(name, "gauge", labels, help, Family::default())
    }

    pub(super) fn histograms<L>(
        &mut self,
        name: &str,
        labels: &[&str],
        help: &str,
        make: fn() -> Histogram,
    ) -> Histograms<L>
    where
        L: Clone + std::hash::Hash + Eq,
        Histograms<L>: Metric + Clone,
    {
        self.enter(name, "histogram", labels, help, Family::new_with_constructor(make))
    }

    /// Registers a metric that another crate updates.
    pub(super) fn enter<M: Metric + Clone>(
        &mut self,
        name: &str,
        kind: &str,
        labels: &[&str],
        help: &str,
        metric: M,
    ) -> M {
        self.registry.register(name, help, metric.clone());
        let suffix = if kind == "counter" { "_total" } else { "" };
        let labels = labels.iter().map(|label| format!("`{label}`")).collect::<Vec<_>>().join(", ");
        self.rows.push([format!("{PREFIX}_{name}{suffix}"), kind.to_owned(), labels, help.to_owned()]);
        metric
    }
}

/// Buckets for response times: 0.1 ms to 3.3 s.
pub(super) fn short_times() -> Histogram {
    Histogram::new(exponential_buckets(0.0001, 2.0, 16))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::metrics::{Counters, OwnMetrics};

    const PAGE: &str = include_str!("../../../../docs/metrics.md");
    const DASHBOARD: &str = include_str!("../../../../packaging/grafana/stoker.json");

    fn all() -> Book {
        let mut book = Book::new();
        OwnMetrics::new(&mut book, &Counters::default());
        book
    }

    #[test]
    fn every_metric_is_documented() {
        let mut missing = Vec::new();
        for [name, kind, labels, help] in all().rows {
            let row = format!("| `{name}` | {kind} | {labels} | {help} |");
            if !PAGE.contains(&row) {
                missing.push(row);
            }
        }
        assert!(missing.is_empty(), "docs/metrics.md lacks, word for word:\n{}", missing.join("\n"));
        let known: BTreeSet<String> = all().rows.into_iter().map(|[name, ..]| name).collect();
        let described = PAGE.lines().filter_map(|line| line.strip_prefix("| `stoker_")?.split_once('`'));
        for (name, _) in described {
            assert!(
                known.contains(&format!("stoker_{name}")),
                "docs/metrics.md describes unknown metric stoker_{name}"
            );
        }
    }

    /// Returns the series that a scraper collects for a metric.
    fn series(row: &[String; 4]) -> Vec<String> {
        let name = &row[0];
        match row[1].as_str() {
            "histogram" => ["_bucket", "_sum", "_count"].iter().map(|end| format!("{name}{end}")).collect(),
            _ => vec![name.clone()],
        }
    }

    #[test]
    fn dashboard_queries_existing_metrics() {
        let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).unwrap();
        let known: BTreeSet<String> = all().rows.iter().flat_map(series).collect();
        let mut queried = BTreeSet::new();
        for panel in dashboard["panels"].as_array().unwrap() {
            for target in panel["targets"].as_array().into_iter().flatten() {
                let expression = target["expr"].as_str().unwrap();
                let words = expression.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
                queried.extend(words.filter(|word| word.starts_with("stoker_")).map(str::to_owned));
            }
        }
        assert!(queried.len() >= 15, "{queried:?}");
        let unknown: Vec<_> = queried.difference(&known).collect();
        assert!(unknown.is_empty(), "the dashboard queries unknown metrics: {unknown:?}");
    }
}
