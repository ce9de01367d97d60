//! Decides the consequences of applied events.

use stoker_model::{InstanceIdx, NodeIdx};

use super::cause::Cause;
use super::end::RunOutcome;
use super::event::{EventKind, InstanceOutcome, NotStarted, Resolution};
use super::state::{Due, HeldStage, InstanceState, Phase, RunMachine};
use super::step::Stepping;
use crate::blueprint::{Blueprint, StagePolicy};

impl Stepping<'_> {
    /// Processes all pending decisions, then dispatches instances until no further instance may start.
    pub(super) fn settle(&mut self) {
        loop {
            while let Some(due) = self.run.due.front().copied() {
                self.decide(due);
            }
            let has_progressed = match self.run.phase {
                Phase::Running => self.begin_next(),
                Phase::Stopping { .. } => self.sweep(),
                Phase::Created | Phase::Paused | Phase::Ended(_) => false,
            };
            if has_progressed {
                continue;
            }
            let is_over = self.run.n_ended as usize == self.blueprint.instances.len();
            if is_over && !matches!(self.run.phase, Phase::Created | Phase::Ended(_)) {
                let end = self.run.verdict();
                self.emit(EventKind::Ended { end });
            }
            return;
        }
    }

    fn decide(&mut self, due: Due) {
        match due {
            Due::Instance(idx) => {
                let resolution = self.run.resolution(self.blueprint, idx);
                self.resolve(idx, resolution);
            }
            Due::Node(node) => {
                let end = self.run.nodes[node.index()].verdict();
                self.emit(EventKind::NodeEnded { node, end });
            }
            Due::Group(group) => {
                self.end_pause();
                let nodes = self.run.failed[group.index()].clone();
                self.emit(EventKind::ToleranceExceeded { group, nodes });
            }
        }
    }

    /// Dispatches the most urgent instance that may start. Returns whether there is one.
    fn begin_next(&mut self) -> bool {
        if let Some(idx) = self.next_retry() {
            let attempt = u32::from(self.run.attempts[idx.index()]) + 1;
            self.emit(EventKind::Dispatched { instance: idx, attempt });
            return true;
        }
        if self.run.n_busy >= self.blueprint.options.max_concurrent_nodes {
            return false;
        }
        let Some(idx) = self.run.ready.best(self.blueprint) else { return false };
        match self.blueprint.executor_of(idx).filter(|node| self.run.nodes[node.index()].is_given_up) {
            Some(node) => self.resolve(idx, Resolution::NotStarted(NotStarted::NodeLost { node })),
            None => self.emit(EventKind::Dispatched { instance: idx, attempt: 1 }),
        }
        true
    }

    /// Returns an instance whose backoff has elapsed and whose agent is connected: a retry sent to a lost
    /// agent would be wasted.
    fn next_retry(&self) -> Option<InstanceIdx> {
        let is_connected = |idx: &InstanceIdx| {
            let executor = self.blueprint.executor_of(*idx);
            executor.is_none_or(|node| self.run.nodes[node.index()].lost_since.is_none())
        };
        self.run.retry_due.iter().copied().find(is_connected)
    }

    /// In a stopping run, ends the instances that were not started, once no attempt is in flight. Returns
    /// whether there are any.
    fn sweep(&mut self) -> bool {
        if !self.run.flights.is_empty() {
            return false;
        }
        let nodes = NodeIdx::first(self.blueprint.nodes.len());
        let ready: Vec<InstanceIdx> =
            nodes.flat_map(|node| self.run.ready.of_node(self.blueprint, node)).collect();
        for idx in &ready {
            self.resolve(*idx, Resolution::NotStarted(NotStarted::Stopped));
        }
        !ready.is_empty()
    }
}

impl RunMachine {
    /// Returns the resolution of an instance that will not be executed.
    fn resolution(&self, blueprint: &Blueprint, idx: InstanceIdx) -> Resolution {
        let instance = blueprint.instances[idx.index()];
        let cause = self.causes.get(idx);
        let is_sync = blueprint.nodes[instance.node.index()].is_sync;
        let is_held = is_sync && blueprint.options.at_stages == StagePolicy::Hold && cause.is_some();
        if (instance.work.is_none() || self.is_untriggered(blueprint, idx)) && !is_held {
            return Resolution::Skipped;
        }
        if self.states[idx.index()] == InstanceState::BackingOff {
            let is_fatal = blueprint.policy_of(idx).is_some_and(|policy| policy.fail_on_error);
            return Resolution::NotRetried(if is_fatal {
                InstanceOutcome::Failed
            } else {
                InstanceOutcome::Ignored
            });
        }
        match cause {
            Some(Cause::Stopped) => return Resolution::NotStarted(NotStarted::Stopped),
            Some(Cause::Instance(by)) => return Resolution::Blocked { by },
            None => {}
        }
        let node = &self.nodes[instance.node.index()];
        Resolution::NotStarted(match (node.failed_by, instance.work) {
            _ if node.is_given_up => NotStarted::NodeLost { node: instance.node },
            (Some(by), _) => NotStarted::NodeFailed { by },
            (None, Some(work)) => NotStarted::NodeLost { node: work.executor },
            (None, None) => NotStarted::NodeLost { node: instance.node },
        })
    }

    /// Returns the outcome of the run; called once every instance has ended.
    fn verdict(&self) -> RunOutcome {
        if let Some(group) = self.exceeded {
            RunOutcome::ToleranceExceeded { group, nodes: self.failed[group.index()].clone() }
        } else if let Some(HeldStage { stage, by }) = self.held_stage {
            RunOutcome::StageHeld { stage, by }
        } else if self.nodes.iter().any(|node| node.is_stopped) {
            RunOutcome::Stopped
        } else if self.n_failed_nodes > 0 {
            RunOutcome::Tolerated { n_failed_nodes: self.n_failed_nodes }
        } else {
            RunOutcome::Succeeded
        }
    }
}
