//! Decides the consequences of applied events.

use super::apply::STOPPED;
use super::end::RunOutcome;
use super::event::{EventKind, InstanceOutcome, NotStarted, Resolution};
use super::state::{Due, InstanceState, Phase, RunMachine};
use super::step::Stepping;
use crate::blueprint::{Blueprint, NONE, StagePolicy};

impl Stepping<'_> {
    /// Decides everything that is due, then dispatches instances until no more may start.
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
                let end = self.run.nodes[node as usize].verdict();
                self.emit(EventKind::NodeEnded { node, end });
            }
            Due::Group(group) => {
                self.end_pause();
                let nodes = self.run.failed[group as usize].clone();
                self.emit(EventKind::ToleranceExceeded { group, nodes });
            }
        }
    }

    /// Dispatches the most urgent instance that may start. Returns whether there was one.
    fn begin_next(&mut self) -> bool {
        if let Some(idx) = self.next_retry() {
            let attempt = u32::from(self.run.attempts[idx as usize]) + 1;
            self.emit(EventKind::Dispatched { instance: idx, attempt });
            return true;
        }
        if self.run.n_busy >= self.blueprint.options.max_concurrent_nodes {
            return false;
        }
        let Some(idx) = self.run.ready.best(self.blueprint) else { return false };
        let executor = self.blueprint.instances[idx as usize].executor;
        if self.run.nodes[executor as usize].is_given_up {
            self.resolve(idx, Resolution::NotStarted(NotStarted::NodeLost { node: executor }));
        } else {
            self.emit(EventKind::Dispatched { instance: idx, attempt: 1 });
        }
        true
    }

    /// An instance whose backoff is over and whose agent is connected: a retry sent to a lost agent would be
    /// wasted.
    fn next_retry(&self) -> Option<u32> {
        let executor = |idx: u32| self.blueprint.instances[idx as usize].executor;
        let is_connected = |idx: &u32| self.run.nodes[executor(*idx) as usize].lost_since.is_none();
        self.run.retry_due.iter().copied().find(is_connected)
    }

    /// In a stopping run, ends the instances that were not started, once nothing is in flight. Returns
    /// whether there were any.
    fn sweep(&mut self) -> bool {
        if !self.run.flights.is_empty() {
            return false;
        }
        let nodes = 0..self.blueprint.nodes.len() as u32;
        let ready: Vec<u32> = nodes.flat_map(|node| self.run.ready.of_node(self.blueprint, node)).collect();
        for idx in &ready {
            self.resolve(*idx, Resolution::NotStarted(NotStarted::Stopped));
        }
        !ready.is_empty()
    }
}

impl RunMachine {
    /// How an instance ends that will not be executed.
    fn resolution(&self, blueprint: &Blueprint, idx: u32) -> Resolution {
        let instance = blueprint.instances[idx as usize];
        let cause = self.cause[idx as usize];
        let is_sync = blueprint.nodes[instance.node as usize].is_sync;
        let is_held = is_sync && blueprint.options.at_stages == StagePolicy::Hold && cause != NONE;
        if instance.is_skipped() && !is_held {
            return Resolution::Skipped;
        }
        if self.states[idx as usize] == InstanceState::BackingOff {
            let is_fatal = blueprint.policies[instance.policy as usize].fail_on_error;
            return Resolution::NotRetried(if is_fatal {
                InstanceOutcome::Failed
            } else {
                InstanceOutcome::Ignored
            });
        }
        if cause == STOPPED {
            return Resolution::NotStarted(NotStarted::Stopped);
        }
        if cause != NONE {
            return Resolution::Blocked { by: cause };
        }
        let node = &self.nodes[instance.node as usize];
        Resolution::NotStarted(if node.is_given_up {
            NotStarted::NodeLost { node: instance.node }
        } else if node.has_failed() {
            NotStarted::NodeFailed { by: node.failed_by }
        } else {
            NotStarted::NodeLost { node: instance.executor }
        })
    }

    /// How the run ends, once every instance has ended.
    fn verdict(&self) -> RunOutcome {
        let held = self.held.map(|stage| RunOutcome::StageHeld { stage, by: self.cause[stage as usize] });
        if let Some(group) = self.exceeded {
            RunOutcome::ToleranceExceeded { group, nodes: self.failed[group as usize].clone() }
        } else if let Some(held) = held {
            held
        } else if self.nodes.iter().any(|node| node.is_stopped) {
            RunOutcome::Stopped
        } else if self.n_failed_nodes > 0 {
            RunOutcome::Tolerated { n_failed_nodes: self.n_failed_nodes }
        } else {
            RunOutcome::Succeeded
        }
    }
}
