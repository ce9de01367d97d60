//! Trace spans of attempts on the server: from the dispatch decision to the end.

use std::collections::HashMap;

use stoker_engine::blueprint::Blueprint;
use stoker_engine::run::{EngineEvent, EventKind};
use stoker_engine::session::AttemptKey;
use stoker_model::RunId;
use stoker_traces::{SpanKind, TraceSpan, Traceparent, Tracer};

use crate::metrics::attempt_end;

/// Spans of the attempts in flight. Each span context is sent to the agent as the parent of its own span.
pub(super) struct AttemptSpans {
    tracer: Tracer,
    run: RunId,
    under: Option<Traceparent>,
    open: HashMap<AttemptKey, TraceSpan>,
}

impl AttemptSpans {
    pub(super) fn new(tracer: Tracer, run: RunId, under: Option<Traceparent>) -> Self {
        Self { tracer, run, under, open: HashMap::new() }
    }

    /// Begins and ends spans according to committed events.
    pub(super) fn record(&mut self, blueprint: &Blueprint, events: &[EngineEvent]) {
        if !self.tracer.is_enabled() {
            return;
        }
        for event in events {
            match &event.kind {
                EventKind::Dispatched { instance, attempt } => {
                    self.begin(
                        blueprint,
                        AttemptKey { run: self.run, instance: *instance, attempt: *attempt },
                    );
                }
                EventKind::AttemptEnded { instance, attempt, end, .. } => {
                    let key = AttemptKey { run: self.run, instance: *instance, attempt: *attempt };
                    if let Some(mut span) = self.open.remove(&key) {
                        let word = attempt_end(end);
                        span.set_attribute("stoker.attempt.end", word);
                        if word != "succeeded" {
                            span.fail(word);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Parent span of an attempt. Falls back to the span of the run for attempts that were dispatched before
    /// this server took the run over.
    pub(super) fn under(&self, key: AttemptKey) -> Option<Traceparent> {
        let own = self.open.get(&key).and_then(TraceSpan::context);
        own.or(self.under)
    }

    fn begin(&mut self, blueprint: &Blueprint, key: AttemptKey) {
        let mut span = self.tracer.begin(SpanKind::Producer, "attempt", self.under);
        if let Some((task, node)) = blueprint.names(key.instance) {
            span.set_attribute("stoker.task.id", task.to_owned());
            span.set_attribute("stoker.node", node.to_owned());
        }
        span.set_attribute("stoker.run.id", self.run.0);
        span.set_attribute("stoker.attempt.number", i64::from(key.attempt));
        self.open.insert(key, span);
    }
}
