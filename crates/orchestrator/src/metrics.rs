//! Metrics of runs, agents and the bus; `server` registers them.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use stoker_engine::run::{
    AttemptOutcome, EngineEvent, EventKind, InstanceOutcome, Next, NotStarted, Resolution,
};
use stoker_engine::session::ResultKind;
use stoker_model::{InstanceIdx, Topic};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct EndLabels {
    pub end: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ChangeLabels {
    /// `true`, `false` or `unknown`.
    pub changed: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ResultLabels {
    pub outcome: &'static str,
}

type Ends = Family<EndLabels, Counter>;

#[derive(Clone, Debug, Default)]
pub struct OrchestratorMetrics {
    pub runs: RunMetrics,
    pub agents: AgentMetrics,
    pub bus: BusMetrics,
}

#[derive(Clone, Debug)]
pub struct RunMetrics {
    pub runs: Ends,
    pub instances: Ends,
    pub attempts_sent: Counter,
    pub attempts: Ends,
    /// Attempts that ended, by whether they changed their host.
    pub changes: Family<ChangeLabels, Counter>,
    pub events: Counter,
    pub writes: Histogram,
}

#[derive(Clone, Debug, Default)]
pub struct AgentMetrics {
    pub connections: Counter,
    pub losses: Counter,
}

#[derive(Clone, Debug, Default)]
pub struct BusMetrics {
    /// Whether NATS stores results of agents: 1 or 0.
    pub stores_results: Gauge,
    pub results: Family<ResultLabels, Counter>,
}

impl Default for RunMetrics {
    fn default() -> Self {
        Self {
            runs: Family::default(),
            instances: Family::default(),
            attempts_sent: Counter::default(),
            attempts: Family::default(),
            changes: Family::default(),
            events: Counter::default(),
            // Buckets from 0.1 ms to 3.3 s.
            writes: Histogram::new(exponential_buckets(0.0001, 2.0, 16)),
        }
    }
}

impl RunMetrics {
    pub(crate) fn run_ended(&self, topic: Topic) {
        let end = match topic {
            Topic::RunSucceeded => "succeeded",
            Topic::RunStopped => "stopped",
            Topic::RunPartial => "partial",
            _ => "failed",
        };
        add(&self.runs, end, 1);
    }

    /// Updates the metrics from committed events.
    pub(crate) fn written(&self, events: &[EngineEvent], is_real: bool, took: Duration) {
        self.writes.observe(took.as_secs_f64());
        self.events.inc_by(events.len() as u64);
        for event in events {
            match &event.kind {
                EventKind::Dispatched { .. } => _ = self.attempts_sent.inc(),
                EventKind::AttemptEnded { end, report, next, .. } => {
                    add(&self.attempts, attempt_end(end), 1);
                    let changed = match report.changed {
                        Some(true) => "true",
                        Some(false) => "false",
                        None => "unknown",
                    };
                    if is_real {
                        self.changes.get_or_create(&ChangeLabels { changed }).inc();
                    }
                    if let Next::Final(outcome) = next {
                        add(&self.instances, outcome_word(*outcome), 1);
                    }
                }
                EventKind::Resolved { ends } => self.resolved(ends),
                _ => {}
            }
        }
    }

    fn resolved(&self, ends: &[(InstanceIdx, Resolution)]) {
        for (_, how) in ends {
            let end = match how {
                Resolution::Skipped => "skipped",
                Resolution::Blocked { .. } => "blocked",
                Resolution::NotStarted(
                    NotStarted::NodeFailed { .. } | NotStarted::NodeLost { .. } | NotStarted::Stopped,
                ) => "not_started",
                Resolution::NotRetried(outcome) => outcome_word(*outcome),
            };
            add(&self.instances, end, 1);
        }
    }
}

impl BusMetrics {
    /// Counts a result from NATS: `settled` (committed), `refused`, or `later` (to be redelivered).
    pub(crate) fn result(&self, outcome: &'static str) {
        self.results.get_or_create(&ResultLabels { outcome }).inc();
    }
}

fn add(family: &Ends, end: &str, n: u64) {
    family.get_or_create(&EndLabels { end: end.to_owned() }).inc_by(n);
}

const fn outcome_word(outcome: InstanceOutcome) -> &'static str {
    match outcome {
        InstanceOutcome::Succeeded => "succeeded",
        InstanceOutcome::Failed => "failed",
        InstanceOutcome::Ignored => "ignored",
        InstanceOutcome::Cancelled => "cancelled",
    }
}

/// Returns the label value for the end of an attempt.
pub(crate) const fn attempt_end(end: &AttemptOutcome) -> &'static str {
    match end {
        AttemptOutcome::Reported(ResultKind::Succeeded) => "succeeded",
        AttemptOutcome::Reported(ResultKind::Failed { .. }) => "failed",
        AttemptOutcome::Reported(ResultKind::TimedOut) => "timed_out",
        AttemptOutcome::Reported(ResultKind::Cancelled) => "cancelled",
        AttemptOutcome::Reported(ResultKind::Interrupted) => "interrupted",
        AttemptOutcome::Reported(ResultKind::Refused { .. }) => "refused",
        AttemptOutcome::Lost => "lost",
        AttemptOutcome::NoResult => "no_answer",
    }
}
