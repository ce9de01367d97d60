//! The fold: application of events to the state. It makes no decisions, and no other code changes the state.

use stoker_model::{InstanceIdx, Micros, NodeIdx, VertexIdx};

use super::cause::Cause;
use super::event::{AttemptOutcome, EngineEvent, EventKind, InstanceOutcome, Next, NotStarted, Resolution};
use super::input::StopMode;
use super::state::{Due, HeldStage, InstanceState, Phase, RunMachine, Timer};
use crate::blueprint::{Blueprint, FailurePolicy};
use crate::session::AttemptKey;

impl RunMachine {
    /// Applies an event. Events of another run or in another order lead to an invalid state; see
    /// [`RunMachine::replay`] for checked application.
    pub fn apply(&mut self, blueprint: &Blueprint, event: &EngineEvent) {
        let at = event.at;
        match &event.kind {
            EventKind::Began => self.apply_began(blueprint),
            EventKind::TakenOver => self.apply_taken_over(blueprint, at),
            EventKind::Dispatched { instance, attempt } => {
                self.apply_dispatched(blueprint, *instance, *attempt, at);
            }
            EventKind::Started { instance, .. } => self.states[instance.index()] = InstanceState::Started,
            EventKind::AttemptEnded { instance, attempt, end, report, next, .. } => {
                self.trigger_handlers(blueprint, *instance, report);
                self.apply_attempt_ended(blueprint, *instance, *attempt, end, *next);
            }
            EventKind::RetryDue { instance } => self.apply_retry_due(*instance),
            EventKind::Resolved { ends } => {
                for (instance, resolution) in ends {
                    self.apply_resolved(blueprint, *instance, *resolution);
                }
            }
            EventKind::NodeLost { node } => self.apply_node_lost(blueprint, *node, at),
            EventKind::NodeBack { node } => self.apply_node_back(blueprint, *node, at),
            EventKind::NodeGivenUp { node } => self.apply_node_given_up(blueprint, *node),
            EventKind::ToleranceExceeded { group, .. } => {
                self.exceeded = Some(*group);
                self.pop_due(Due::Group(*group));
                if !matches!(self.phase, Phase::Stopping { .. }) {
                    self.enter_stopping(StopMode::Graceful);
                }
            }
            EventKind::NodeEnded { node, end } => {
                self.pop_due(Due::Node(*node));
                self.nodes[node.index()].end = Some(*end);
            }
            EventKind::StopRequested { how } => {
                self.stop_requested = true;
                self.enter_stopping(*how);
            }
            EventKind::Paused => self.phase = Phase::Paused,
            EventKind::Resumed => self.phase = Phase::Running,
            EventKind::LateResult { instance, attempt, report, .. } => {
                self.trigger_handlers(blueprint, *instance, report);
                self.unanswered.remove(&AttemptKey { run: self.id, instance: *instance, attempt: *attempt });
            }
            EventKind::Ended { end } => {
                self.phase = Phase::Ended(end.clone());
                self.timers.clear();
            }
        }
    }

    fn apply_began(&mut self, blueprint: &Blueprint) {
        self.phase = Phase::Running;
        let first: Vec<VertexIdx> =
            VertexIdx::first(self.n_open.len()).filter(|vertex| self.n_open[vertex.index()] == 0).collect();
        for vertex in first {
            match vertex.instance(blueprint.instances.len()) {
                Some(idx) => self.unblocked(blueprint, idx),
                None => self.propagate(blueprint, vertex, None),
            }
        }
    }

    fn apply_dispatched(&mut self, blueprint: &Blueprint, idx: InstanceIdx, attempt: u32, at: Micros) {
        let instance = blueprint.instances[idx.index()];
        // An instance without work is never dispatched.
        let Some(work) = instance.work else { return };
        self.states[idx.index()] = InstanceState::Dispatched;
        self.attempts[idx.index()] = u16::try_from(attempt).unwrap_or(u16::MAX);
        self.retry_due.remove(&idx);
        if !self.flights.contains_key(&idx) {
            self.ready.remove(blueprint, idx);
            self.ready.occupy(blueprint, idx, true);
            self.nodes[instance.node.index()].is_busy = true;
            self.n_busy += 1;
            self.update_free(blueprint, instance.node);
            self.nodes[work.executor.index()].flights.insert(idx);
        }
        let timeout_ms = blueprint.policies[work.policy.index()].timeout_ms;
        self.set_timer(idx, later(at, timeout_ms.saturating_add(blueprint.options.result_grace_ms)));
    }

    fn apply_attempt_ended(
        &mut self,
        blueprint: &Blueprint,
        idx: InstanceIdx,
        attempt: u32,
        end: &AttemptOutcome,
        next: Next,
    ) {
        if !matches!(end, AttemptOutcome::Reported(_)) {
            self.unanswered.insert(AttemptKey { run: self.id, instance: idx, attempt });
        }
        match next {
            Next::Retry { at } => {
                self.states[idx.index()] = InstanceState::BackingOff;
                self.set_timer(idx, at);
            }
            Next::Final(outcome) => {
                self.release(blueprint, idx);
                self.end_instance(blueprint, idx, state_of(outcome), taint_of(outcome, idx));
            }
        }
    }

    fn apply_retry_due(&mut self, idx: InstanceIdx) {
        if let Some(timer) = self.flights.get(&idx) {
            self.timers.remove(&(*timer, Timer::Flight(idx)));
        }
        self.retry_due.insert(idx);
    }

    pub(super) fn apply_resolved(&mut self, blueprint: &Blueprint, idx: InstanceIdx, resolution: Resolution) {
        self.pop_due(Due::Instance(idx));
        let instance = blueprint.instances[idx.index()];
        if self.states[idx.index()] == InstanceState::Ready {
            self.ready.remove(blueprint, idx);
        }
        let node = &mut self.nodes[instance.node.index()];
        let (state, taint) = match resolution {
            // A stage that is passed ends the propagation of failures.
            Resolution::Skipped if blueprint.nodes[instance.node.index()].is_sync => {
                (InstanceState::Skipped, None)
            }
            Resolution::Skipped => (InstanceState::Skipped, self.causes.get(idx)),
            Resolution::Blocked { by } => {
                node.block(by);
                if blueprint.nodes[instance.node.index()].is_sync {
                    self.held_stage.get_or_insert(HeldStage { stage: idx, by });
                }
                (InstanceState::Blocked, Some(Cause::Instance(by)))
            }
            Resolution::NotStarted(NotStarted::NodeFailed { by }) => {
                (InstanceState::NotStarted, Some(Cause::Instance(by)))
            }
            Resolution::NotStarted(NotStarted::NodeLost { node: lost }) => {
                node.block(idx);
                // When the node was abandoned, possibly no instance depended on it. Now one does, so the node
                // counts as failed.
                self.count_failure(blueprint, lost);
                self.node_may_end(blueprint, lost);
                (InstanceState::NotStarted, Some(Cause::Instance(idx)))
            }
            Resolution::NotStarted(NotStarted::Stopped) => {
                node.is_stopped = true;
                (InstanceState::NotStarted, Some(Cause::Stopped))
            }
            Resolution::NotRetried(outcome) => {
                self.release(blueprint, idx);
                (state_of(outcome), taint_of(outcome, idx))
            }
        };
        self.end_instance(blueprint, idx, state, taint);
    }

    fn apply_node_lost(&mut self, blueprint: &Blueprint, node: NodeIdx, at: Micros) {
        let until = later(at, blueprint.options.lost_after_ms);
        self.nodes[node.index()].lost_since = Some(at);
        self.timers.insert((until, Timer::Node(node)));
        self.update_free(blueprint, node);
        // No result can arrive now. The deadline is set again when the node reconnects or is abandoned.
        self.postpone(node, later(until, blueprint.options.result_grace_ms));
    }

    fn apply_node_back(&mut self, blueprint: &Blueprint, node: NodeIdx, at: Micros) {
        self.clear_lost(blueprint, node);
        self.update_free(blueprint, node);
        self.postpone(node, later(at, blueprint.options.result_grace_ms));
    }

    fn apply_node_given_up(&mut self, blueprint: &Blueprint, node: NodeIdx) {
        self.clear_lost(blueprint, node);
        let state = &mut self.nodes[node.index()];
        state.is_given_up = true;
        let is_needed = state.n_open > 0 || !state.flights.is_empty();
        self.update_free(blueprint, node);
        self.abandon(blueprint, node);
        let waiting: Vec<InstanceIdx> = self.nodes[node.index()].flights.iter().copied().collect();
        for idx in waiting {
            self.cancel_retry(idx);
        }
        if is_needed {
            self.count_failure(blueprint, node);
            self.node_may_end(blueprint, node);
        }
    }

    fn apply_taken_over(&mut self, blueprint: &Blueprint, at: Micros) {
        for node in NodeIdx::first(blueprint.nodes.len()) {
            if self.nodes[node.index()].lost_since.is_some() {
                self.clear_lost(blueprint, node);
                self.apply_node_lost(blueprint, node, at);
            } else {
                self.postpone(node, later(at, blueprint.options.result_grace_ms));
            }
        }
    }

    fn clear_lost(&mut self, blueprint: &Blueprint, node: NodeIdx) {
        if let Some(since) = self.nodes[node.index()].lost_since.take() {
            self.timers.remove(&(later(since, blueprint.options.lost_after_ms), Timer::Node(node)));
        }
    }

    fn enter_stopping(&mut self, how: StopMode) {
        self.phase = Phase::Stopping { how };
        let flights: Vec<InstanceIdx> = self.flights.keys().copied().collect();
        for idx in flights {
            self.cancel_retry(idx);
        }
    }

    /// Schedules the end of an instance that waits for a retry: there will be none.
    fn cancel_retry(&mut self, idx: InstanceIdx) {
        if self.states[idx.index()] == InstanceState::BackingOff && !self.due.contains(&Due::Instance(idx)) {
            self.due.push_back(Due::Instance(idx));
        }
    }

    /// Records the final state of an instance and its consequences.
    fn end_instance(
        &mut self,
        blueprint: &Blueprint,
        idx: InstanceIdx,
        state: InstanceState,
        taint: Option<Cause>,
    ) {
        let node_idx = blueprint.instances[idx.index()].node;
        self.states[idx.index()] = state;
        self.n_ended += 1;
        let node = &mut self.nodes[node_idx.index()];
        node.n_open -= 1;
        let is_done = node.n_open == 0;
        match state {
            InstanceState::Cancelled => node.is_stopped = true,
            InstanceState::Failed => {
                node.failed_by.get_or_insert(idx);
                self.update_free(blueprint, node_idx);
                if blueprint.options.on_failure == FailurePolicy::NodeStops {
                    self.abandon(blueprint, node_idx);
                    self.node_may_end(blueprint, node_idx);
                }
                self.count_failure(blueprint, node_idx);
            }
            _ => {}
        }
        if is_done {
            self.node_may_end(blueprint, node_idx);
        }
        self.propagate(blueprint, idx.into(), taint);
    }

    /// Returns the ready instances of a node to pending and schedules their resolution: they will not start.
    fn abandon(&mut self, blueprint: &Blueprint, node: NodeIdx) {
        for idx in self.ready.of_node(blueprint, node) {
            self.ready.remove(blueprint, idx);
            self.states[idx.index()] = InstanceState::Pending;
            self.due.push_back(Due::Instance(idx));
        }
    }

    fn node_may_end(&mut self, blueprint: &Blueprint, node_idx: NodeIdx) {
        let node = &mut self.nodes[node_idx.index()];
        let is_new = node.end.is_none() && !node.is_end_due && !blueprint.nodes[node_idx.index()].is_sync;
        if is_new {
            node.is_end_due = true;
            self.due.push_back(Due::Node(node_idx));
        }
    }

    fn count_failure(&mut self, blueprint: &Blueprint, node: NodeIdx) {
        if std::mem::replace(&mut self.nodes[node.index()].is_counted, true) {
            return;
        }
        self.n_failed_nodes += 1;
        for group in &blueprint.nodes[node.index()].groups {
            let failed = &mut self.failed[group.index()];
            failed.push(node);
            let is_first = failed.len() as u64 == blueprint.groups[group.index()].tolerated.saturating_add(1);
            if is_first && self.exceeded.is_none() {
                self.due.push_back(Due::Group(*group));
            }
        }
    }

    /// Propagates the completion of a vertex to its successors. Iterative, because recursion could overflow
    /// the stack on deep graphs.
    fn propagate(&mut self, blueprint: &Blueprint, vertex: VertexIdx, taint: Option<Cause>) {
        let mut queue = vec![(vertex, taint)];
        while let Some((vertex, taint)) = queue.pop() {
            for target in blueprint.order.targets(vertex.get()) {
                let target = VertexIdx::new(*target);
                self.causes.set_first(target, taint);
                let n_open = &mut self.n_open[target.index()];
                *n_open -= 1;
                if *n_open > 0 {
                    continue;
                }
                match target.instance(blueprint.instances.len()) {
                    Some(idx) => self.unblocked(blueprint, idx),
                    None => queue.push((target, self.causes.get(target))),
                }
            }
        }
    }

    /// Makes an instance ready, or resolves it, after all of its predecessors have ended.
    fn unblocked(&mut self, blueprint: &Blueprint, idx: InstanceIdx) {
        let instance = blueprint.instances[idx.index()];
        let is_due = instance.work.is_none_or(|work| self.nodes[work.executor.index()].is_given_up)
            || self.is_untriggered(blueprint, idx)
            || self.causes.get(idx).is_some()
            || !self.takes_tasks(blueprint, instance.node);
        if is_due {
            self.due.push_back(Due::Instance(idx));
        } else {
            self.states[idx.index()] = InstanceState::Ready;
            self.ready.insert(blueprint, idx);
        }
    }

    /// Releases the node of an instance that is no longer in flight.
    fn release(&mut self, blueprint: &Blueprint, idx: InstanceIdx) {
        let instance = blueprint.instances[idx.index()];
        if let Some(timer) = self.flights.remove(&idx) {
            self.timers.remove(&(timer, Timer::Flight(idx)));
        }
        self.retry_due.remove(&idx);
        if let Some(work) = instance.work {
            self.nodes[work.executor.index()].flights.remove(&idx);
        }
        self.nodes[instance.node.index()].is_busy = false;
        self.n_busy -= 1;
        self.ready.occupy(blueprint, idx, false);
        self.update_free(blueprint, instance.node);
    }

    fn set_timer(&mut self, idx: InstanceIdx, at: Micros) {
        if let Some(old) = self.flights.insert(idx, at) {
            self.timers.remove(&(old, Timer::Flight(idx)));
        }
        self.timers.insert((at, Timer::Flight(idx)));
    }

    /// Extends the deadlines of attempts that the node's agent executes.
    fn postpone(&mut self, node: NodeIdx, until: Micros) {
        let flights: Vec<InstanceIdx> = self.nodes[node.index()].flights.iter().copied().collect();
        for idx in flights {
            let is_in_flight =
                matches!(self.states[idx.index()], InstanceState::Dispatched | InstanceState::Started);
            if is_in_flight && self.flights.get(&idx).is_some_and(|timer| *timer < until) {
                self.set_timer(idx, until);
            }
        }
    }

    /// Reports whether a node can still start tasks.
    pub(super) fn takes_tasks(&self, blueprint: &Blueprint, node: NodeIdx) -> bool {
        let state = &self.nodes[node.index()];
        let stops = blueprint.options.on_failure == FailurePolicy::NodeStops;
        !(state.is_given_up || state.has_failed() && stops)
    }

    fn update_free(&mut self, blueprint: &Blueprint, node: NodeIdx) {
        let state = &self.nodes[node.index()];
        let is_free = !state.is_busy && state.lost_since.is_none() && self.takes_tasks(blueprint, node);
        self.ready.set_free(blueprint, node, is_free);
    }

    fn pop_due(&mut self, due: Due) {
        if self.due.front() == Some(&due) {
            self.due.pop_front();
        }
    }
}

fn state_of(outcome: InstanceOutcome) -> InstanceState {
    match outcome {
        InstanceOutcome::Succeeded => InstanceState::Succeeded,
        InstanceOutcome::Failed => InstanceState::Failed,
        InstanceOutcome::Ignored => InstanceState::Ignored,
        InstanceOutcome::Cancelled => InstanceState::Cancelled,
    }
}

/// Returns the effect of the outcome of an instance on its successors.
fn taint_of(outcome: InstanceOutcome, idx: InstanceIdx) -> Option<Cause> {
    match outcome {
        InstanceOutcome::Succeeded | InstanceOutcome::Ignored => None,
        InstanceOutcome::Failed => Some(Cause::Instance(idx)),
        InstanceOutcome::Cancelled => Some(Cause::Stopped),
    }
}

pub(super) fn later(at: Micros, ms: u64) -> Micros {
    let micros = i64::try_from(ms).unwrap_or(i64::MAX).saturating_mul(1000);
    Micros(at.0.saturating_add(micros))
}
