//! Runs, their task instances and attempts.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use stoker_engine::run::{AttemptEnd, Event, EventKind, Next, NotStarted, Outcome, Resolution};
use stoker_engine::session::End;
use stoker_model::Topic;

use super::book::{Book, short_times};
use crate::state::App;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EndLabels {
    end: String,
}

type Ends = Family<EndLabels, Counter>;

pub(crate) struct Engine {
    runs: Ends,
    active: Gauge,
    waiting: Gauge,
    instances: Ends,
    attempts_sent: Counter,
    attempts: Ends,
    events: Counter,
    writes: Histogram,
}

impl Engine {
    pub(super) fn new(book: &mut Book) -> Self {
        Self {
            runs: book.counters("runs", &["end"], "Runs that ended here: `succeeded`, `failed`, `stopped`"),
            active: book.gauge("runs_active", "Runs that this server carries out"),
            waiting: book.gauge("run_commands_waiting", "Reports of agents and requests that wait for runs"),
            instances: book.counters(
                "instances",
                &["end"],
                "Task instances that ended: `succeeded`, `failed`, `ignored`, `cancelled`, `skipped`, `blocked`, `not_started`",
            ),
            attempts_sent: book.counter("attempts_sent", "Attempts that agents were told to begin"),
            attempts: book.counters(
                "attempts",
                &["end"],
                "Attempts that ended: `succeeded`, `failed`, `timed_out`, `cancelled`, `interrupted`, `refused`, `lost`, `no_answer`",
            ),
            events: book.counter("run_events", "Events of runs that were written down"),
            writes: book.histogram(
                "run_write_duration_seconds",
                "Time to write down what a run decided, its turn included",
                short_times,
            ),
        }
    }

    pub(super) fn read(&self, app: &App) {
        let (n_runs, n_commands) = app.agents.load();
        self.active.set(i64::try_from(n_runs).unwrap_or(i64::MAX));
        self.waiting.set(i64::try_from(n_commands).unwrap_or(i64::MAX));
    }

    pub(crate) fn run_ended(&self, topic: Topic) {
        let end = match topic {
            Topic::RunSucceeded => "succeeded",
            Topic::RunStopped => "stopped",
            _ => "failed",
        };
        add(&self.runs, end, 1);
    }

    /// Events were written down.
    pub(crate) fn written(&self, events: &[Event], took: Duration) {
        self.writes.observe(took.as_secs_f64());
        self.events.inc_by(events.len() as u64);
        for event in events {
            match &event.kind {
                EventKind::Dispatched { .. } => _ = self.attempts_sent.inc(),
                EventKind::AttemptEnded { end, next, .. } => {
                    add(&self.attempts, attempt_end(end), 1);
                    if let Next::Final(outcome) = next {
                        add(&self.instances, outcome_word(*outcome), 1);
                    }
                }
                EventKind::Resolved { ends } => self.resolved(ends),
                _ => {}
            }
        }
    }

    fn resolved(&self, ends: &[(u32, Resolution)]) {
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

fn add(family: &Ends, end: &str, n: u64) {
    family.get_or_create(&EndLabels { end: end.to_owned() }).inc_by(n);
}

const fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Succeeded => "succeeded",
        Outcome::Failed => "failed",
        Outcome::Ignored => "ignored",
        Outcome::Cancelled => "cancelled",
    }
}

/// How an attempt ended, in a word.
pub(crate) const fn attempt_end(end: &AttemptEnd) -> &'static str {
    match end {
        AttemptEnd::Reported(End::Succeeded) => "succeeded",
        AttemptEnd::Reported(End::Failed { .. }) => "failed",
        AttemptEnd::Reported(End::TimedOut) => "timed_out",
        AttemptEnd::Reported(End::Cancelled) => "cancelled",
        AttemptEnd::Reported(End::Interrupted) => "interrupted",
        AttemptEnd::Reported(End::Refused { .. }) => "refused",
        AttemptEnd::Lost => "lost",
        AttemptEnd::NoAnswer => "no_answer",
    }
}
