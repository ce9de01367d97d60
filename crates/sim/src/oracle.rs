//! Test oracle: the ground truth of the simulation, and the invariants between it and the recorded history.
//!
//! It does not use the machines: the invariants are derived from the draft and the events in a slow and
//! simple way.

use std::collections::{BTreeMap, BTreeSet};

use stoker_engine::blueprint::{Blueprint, Draft, FailurePolicy, StagePolicy};
use stoker_engine::run::{
    AttemptOutcome, EngineEvent, EventKind, InstanceOutcome, Next, NotStarted, Resolution, RunOutcome,
};
use stoker_engine::session::{AttemptKey, ResultKind};
use stoker_graph::Csr;
use stoker_model::{InstanceIdx, NodeIdx, RunId, VertexIdx};

/// The simulated run.
pub(crate) const RUN: RunId = RunId(1);

/// Description of a violated invariant.
pub type Violation = String;

/// Outcome of an instance according to the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InstanceEnd {
    Succeeded,
    Skipped,
    Failed,
}

/// Ground truth about an attempt, independent of what was reported.
#[derive(Clone, Debug, Default)]
struct Execution {
    n_begun: u32,
    /// Result that is durable in the agent's journal and must reach the history.
    journaled: Option<ResultKind>,
    /// Actual result of the process.
    actual: Option<ResultKind>,
}

fn key(instance: InstanceIdx, attempt: u32) -> AttemptKey {
    AttemptKey { run: RUN, instance, attempt }
}

/// For each instance, the instances with an edge to it, with joins resolved.
fn sources(edges: &Csr, n_instances: usize) -> Vec<Vec<InstanceIdx>> {
    let reversed = edges.reversed();
    let of = |idx: InstanceIdx| {
        let direct = reversed.targets(VertexIdx::from(idx).get()).iter();
        let sources = direct.flat_map(|vertex| match VertexIdx::new(*vertex).instance(n_instances) {
            Some(idx) => vec![idx],
            // A join follows instances only.
            None => reversed.targets(*vertex).iter().map(|idx| InstanceIdx::new(*idx)).collect(),
        });
        sources.collect()
    };
    InstanceIdx::first(n_instances).map(of).collect()
}

pub(crate) struct Oracle {
    draft: Draft,
    /// For each instance, its direct predecessors, with joins resolved.
    before: Vec<Vec<InstanceIdx>>,
    /// For each instance, the instances that trigger it, with joins resolved.
    triggered_by: Vec<Vec<InstanceIdx>>,
    /// Instances with an attempt that may have changed its host.
    changed: BTreeSet<InstanceIdx>,
    ended: Vec<Option<InstanceEnd>>,
    flights: BTreeSet<InstanceIdx>,
    failed_nodes: BTreeSet<NodeIdx>,
    executions: BTreeMap<AttemptKey, Execution>,
    /// Reported result of each attempt, from the history, in time or late.
    reported: BTreeMap<AttemptKey, ResultKind>,
    /// Attempts ended by the engine without a result.
    given_up: BTreeSet<AttemptKey>,
    node_ends: BTreeSet<NodeIdx>,
    run_end: Option<RunOutcome>,
    stop_requested: bool,
    pub(crate) n_events: usize,
    pub(crate) violations: Vec<Violation>,
}

impl Oracle {
    pub(crate) fn new(draft: Draft) -> Self {
        let n_instances = draft.instances.len();
        let triggers = draft.handlers.triggers.as_ref();
        Self {
            before: sources(&draft.order, n_instances),
            triggered_by: triggers
                .map_or_else(|| vec![Vec::new(); n_instances], |triggers| sources(triggers, n_instances)),
            changed: BTreeSet::new(),
            ended: vec![None; n_instances],
            flights: BTreeSet::new(),
            failed_nodes: BTreeSet::new(),
            executions: BTreeMap::new(),
            reported: BTreeMap::new(),
            given_up: BTreeSet::new(),
            node_ends: BTreeSet::new(),
            run_end: None,
            stop_requested: false,
            n_events: 0,
            violations: Vec::new(),
            draft,
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.run_end.is_some()
    }

    fn report_violation(&mut self, violation: impl Into<String>) {
        self.violations.push(violation.into());
    }

    // Observations of the ground truth.

    pub(crate) fn process_started(&mut self, key: AttemptKey, others: &[AttemptKey]) {
        let execution = self.executions.entry(key).or_default();
        execution.n_begun += 1;
        if execution.n_begun > 1 {
            self.report_violation(format!("attempt {key} was executed twice"));
        }
        if others.iter().any(|other| other.instance == key.instance) {
            self.report_violation(format!("two attempts of instance {} run concurrently", key.instance));
        }
        let node = self.draft.instances[key.instance.index()].node;
        for other in others {
            let is_unknown = self.given_up.contains(other);
            if self.draft.instances[other.instance.index()].node == node && !is_unknown {
                self.report_violation(format!("{other} and {key} run concurrently on one node"));
            }
            if self.is_before(other.instance, key.instance) && !is_unknown {
                self.report_violation(format!("{key} was started while its predecessor {other} runs"));
            }
        }
    }

    pub(crate) fn process_ended(&mut self, key: AttemptKey, end: &ResultKind) {
        self.executions.entry(key).or_default().actual = Some(end.clone());
    }

    pub(crate) fn journaled(&mut self, key: AttemptKey, end: &ResultKind) {
        let before = self.executions.entry(key).or_default().journaled.replace(end.clone());
        if let Some(before) = before.filter(|before| before != end) {
            self.report_violation(format!("{key} ended with {before:?}, and then with {end:?}"));
        }
    }

    /// Records that power was lost before the result was fsynced.
    pub(crate) fn result_lost(&mut self, key: AttemptKey) {
        self.executions.entry(key).or_default().journaled = None;
    }

    /// Records that power was lost before the acceptance was fsynced. If the attempt had started, this
    /// violates the at-most-once guarantee, although the server would treat the attempt as interrupted.
    pub(crate) fn acceptance_lost(&mut self, key: AttemptKey) {
        if self.executions.get(&key).is_some_and(|execution| execution.n_begun > 0) {
            self.report_violation(format!("the agent lost the acceptance of {key}, which had started"));
        }
    }

    // Checks of the recorded history.

    pub(crate) fn committed(&mut self, events: &[EngineEvent]) {
        for event in events {
            self.n_events += 1;
            if self.run_end.is_some() && !matches!(event.kind, EventKind::LateResult { .. }) {
                self.report_violation(format!("after the end of the run: {:?}", event.kind));
            }
            self.record_event(&event.kind);
        }
    }

    fn record_event(&mut self, kind: &EventKind) {
        match kind {
            EventKind::Dispatched { instance, .. } => self.record_dispatched(*instance),
            EventKind::AttemptEnded { instance, attempt, end, report, next, .. } => {
                if report.changed != Some(false) {
                    self.changed.insert(*instance);
                }
                match end {
                    AttemptOutcome::Reported(end) => self.record_result(*instance, *attempt, end),
                    AttemptOutcome::Lost | AttemptOutcome::NoResult => {
                        self.given_up.insert(key(*instance, *attempt));
                    }
                }
                if let Next::Final(outcome) = next {
                    self.flights.remove(instance);
                    self.record_outcome(*instance, *outcome);
                }
            }
            EventKind::LateResult { instance, attempt, end, .. } => {
                if !self.given_up.contains(&key(*instance, *attempt)) {
                    self.report_violation(format!("{instance}/{attempt} is late but was not given up"));
                }
                self.record_result(*instance, *attempt, end);
            }
            EventKind::Resolved { ends } => {
                for (instance, resolution) in ends {
                    self.record_resolved(*instance, *resolution);
                }
            }
            EventKind::NodeGivenUp { node } => {
                let mut open =
                    InstanceIdx::first(self.ended.len()).filter(|idx| self.ended[idx.index()].is_none());
                let is_needed = open.any(|idx| {
                    let instance = &self.draft.instances[idx.index()];
                    let executor = instance.work.as_ref().map(|work| work.executor);
                    instance.node == *node || executor == Some(*node) && self.flights.contains(&idx)
                });
                if is_needed {
                    self.failed_nodes.insert(*node);
                }
            }
            EventKind::NodeEnded { node, .. } => self.record_node_ended(*node),
            EventKind::StopRequested { .. } => self.stop_requested = true,
            EventKind::Ended { end } => self.run_end = Some(end.clone()),
            _ => {}
        }
    }

    fn record_node_ended(&mut self, node: NodeIdx) {
        if !self.node_ends.insert(node) {
            self.report_violation(format!("node {node} ended twice"));
        }
    }

    fn record_result(&mut self, instance: InstanceIdx, attempt: u32, end: &ResultKind) {
        let key = key(instance, attempt);
        if self.reported.insert(key, end.clone()).is_some() {
            self.report_violation(format!("the history has two results of {key}"));
        }
        let actual = self.executions.get(&key).and_then(|execution| execution.actual.clone());
        if *end == ResultKind::Succeeded && actual != Some(ResultKind::Succeeded) {
            self.report_violation(format!("the history says that {key} succeeded, but it was {actual:?}"));
        }
    }

    /// Reports whether the instance is a handler that no change has triggered.
    fn is_untriggered(&self, idx: InstanceIdx) -> bool {
        self.draft.handlers.only_triggered.contains(&idx)
            && !self.triggered_by[idx.index()].iter().any(|by| self.changed.contains(by))
    }

    fn record_dispatched(&mut self, idx: InstanceIdx) {
        if self.is_untriggered(idx) {
            self.report_violation(format!("handler {idx} was dispatched, but nothing triggered it"));
        }
        if self.ended[idx.index()].is_some() {
            self.report_violation(format!("instance {idx} was dispatched after its end"));
        }
        for before in self.before[idx.index()].clone() {
            if !self.is_passed(before) {
                self.report_violation(format!(
                    "instance {idx} was dispatched, but its predecessor {before} did not succeed"
                ));
            }
        }
        self.flights.insert(idx);
        let instances = &self.draft.instances;
        let of = |idx: &InstanceIdx| &instances[idx.index()];
        let mut busy: Vec<NodeIdx> = self.flights.iter().map(|idx| of(idx).node).collect();
        busy.sort_unstable();
        let n_busy = busy.len();
        busy.dedup();
        let own = of(&idx);
        let limits = instances
            .iter()
            .filter(|other| other.task == own.task)
            .filter_map(|other| other.work.as_ref()?.limit);
        let limit = limits.filter(|limit| *limit > 0).min();
        let n_running = self.flights.iter().filter(|idx| of(idx).task == own.task).count();
        let mut violations = Vec::new();
        if busy.len() < n_busy {
            violations.push(format!("concurrent tasks on one node: {:?}", self.flights));
        }
        if busy.len() > self.draft.options.max_concurrent_nodes as usize {
            violations.push(format!("too many concurrent nodes: {busy:?}"));
        }
        if limit.is_some_and(|limit| n_running > limit as usize) {
            violations.push(format!("too many instances of task {}: {:?}", own.task, self.flights));
        }
        self.violations.extend(violations);
    }

    /// Reports whether the successors of an instance may start.
    fn is_passed(&self, idx: InstanceIdx) -> bool {
        let is_stage = Some(self.draft.instances[idx.index()].node) == self.draft.sync;
        match self.ended[idx.index()] {
            Some(InstanceEnd::Succeeded) => true,
            Some(InstanceEnd::Skipped) if is_stage && self.draft.options.at_stages == StagePolicy::Pass => {
                true
            }
            Some(InstanceEnd::Skipped) => {
                self.before[idx.index()].iter().all(|before| self.is_passed(*before))
            }
            Some(InstanceEnd::Failed) | None => false,
        }
    }

    fn is_before(&self, earlier: InstanceIdx, later: InstanceIdx) -> bool {
        let mut waiting = vec![later];
        let mut visited = BTreeSet::new();
        while let Some(idx) = waiting.pop() {
            for before in &self.before[idx.index()] {
                if *before == earlier {
                    return true;
                }
                if visited.insert(*before) {
                    waiting.push(*before);
                }
            }
        }
        false
    }

    fn record_outcome(&mut self, idx: InstanceIdx, outcome: InstanceOutcome) {
        let node = self.draft.instances[idx.index()].node;
        let is_fatal =
            self.draft.instances[idx.index()].work.as_ref().is_some_and(|work| work.policy.fail_on_error);
        if outcome == InstanceOutcome::Failed {
            self.failed_nodes.insert(node);
            if !is_fatal {
                self.report_violation(format!("instance {idx} must not fail its node"));
            }
        }
        let is_good = matches!(outcome, InstanceOutcome::Succeeded | InstanceOutcome::Ignored);
        self.record_end(idx, if is_good { InstanceEnd::Succeeded } else { InstanceEnd::Failed });
    }

    fn record_resolved(&mut self, idx: InstanceIdx, resolution: Resolution) {
        if self.before[idx.index()].iter().any(|before| self.ended[before.index()].is_none()) {
            self.report_violation(format!("instance {idx} ended before its predecessors"));
        }
        match resolution {
            Resolution::Skipped => {
                if self.draft.instances[idx.index()].work.is_some() && !self.is_untriggered(idx) {
                    self.report_violation(format!("{idx} was skipped, but it has to run"));
                }
                self.record_end(idx, InstanceEnd::Skipped);
            }
            Resolution::NotRetried(outcome) => {
                self.flights.remove(&idx);
                self.record_outcome(idx, outcome);
            }
            Resolution::Blocked { by } => {
                if self.ended[by.index()] != Some(InstanceEnd::Failed) {
                    self.report_violation(format!("{idx} is blocked by {by}, which did not fail"));
                }
                self.record_end(idx, InstanceEnd::Failed);
            }
            Resolution::NotStarted(NotStarted::NodeLost { node }) => {
                self.failed_nodes.insert(node);
                self.record_end(idx, InstanceEnd::Failed);
            }
            Resolution::NotStarted(_) => self.record_end(idx, InstanceEnd::Failed),
        }
    }

    fn record_end(&mut self, idx: InstanceIdx, ended: InstanceEnd) {
        if self.ended[idx.index()].replace(ended).is_some() {
            self.report_violation(format!("instance {idx} ended twice"));
        }
    }

    // Final checks.

    pub(crate) fn settle(&mut self, blueprint: &Blueprint) {
        for idx in 0..self.ended.len() {
            if self.ended[idx].is_none() {
                self.report_violation(format!("instance {idx} has not ended"));
            }
        }
        for node in NodeIdx::first(self.draft.nodes.len()) {
            let has_instances = self.draft.instances.iter().any(|instance| instance.node == node);
            let is_sync = self.draft.sync == Some(node);
            if has_instances && !is_sync && !self.node_ends.contains(&node) {
                self.report_violation(format!("node {node} has not ended"));
            }
        }
        for (key, execution) in self.executions.clone() {
            match (&execution.journaled, self.reported.get(&key)) {
                (Some(end), Some(reported)) if end == reported => {}
                // The disk was full, or power was lost before the fsync. The result had reached the server
                // before the agent died.
                (Some(ResultKind::Interrupted), Some(reported))
                    if execution.actual.as_ref() == Some(reported) => {}
                (Some(end), reported) => {
                    let reported = reported.cloned();
                    self.report_violation(format!(
                        "{key} ended with {end:?}, but the history says {reported:?}"
                    ));
                }
                (None, Some(_)) => {}
                (None, None) => self.report_violation(format!("the history has no result for {key}")),
            }
        }
        self.check_run_end(blueprint);
    }

    fn check_run_end(&mut self, blueprint: &Blueprint) {
        let exceeded = blueprint.groups().iter().any(|group| {
            let failed = group.nodes.iter().filter(|node| self.failed_nodes.contains(node)).count();
            failed as u64 > group.tolerated
        });
        let is_right = match &self.run_end {
            None => false,
            Some(RunOutcome::ToleranceExceeded { group, nodes }) => {
                let tolerated = blueprint.groups()[group.index()].tolerated;
                exceeded
                    && nodes.len() as u64 > tolerated
                    && nodes.iter().all(|node| self.failed_nodes.contains(node))
            }
            Some(RunOutcome::StageHeld { .. }) => {
                !exceeded && self.draft.options.at_stages == StagePolicy::Hold
            }
            Some(RunOutcome::Stopped) => !exceeded && self.stop_requested,
            Some(RunOutcome::Tolerated { n_failed_nodes }) => {
                !exceeded && *n_failed_nodes as usize == self.failed_nodes.len()
            }
            Some(RunOutcome::Succeeded) => {
                let is_good = self
                    .ended
                    .iter()
                    .all(|ended| matches!(ended, Some(InstanceEnd::Succeeded | InstanceEnd::Skipped)));
                !exceeded && self.failed_nodes.is_empty() && is_good
            }
        };
        if !is_right {
            let (end, failed) = (&self.run_end, &self.failed_nodes);
            let policy = matches!(self.draft.options.on_failure, FailurePolicy::NodeStops);
            let text = format!("the run ended with {end:?}; failed nodes {failed:?}, node stops: {policy}");
            self.report_violation(text);
        }
    }
}

#[cfg(test)]
mod tests;
