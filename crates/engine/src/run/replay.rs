//! Validated replay of a stored history.
//!
//! [`RunMachine::apply`] trusts events that a step of this run has just decided. Events from a store are validated
//! first: a history of another plan, or with gaps, is an error and never a panic.

use std::fmt;

use stoker_model::{InstanceIdx, NodeIdx, RunId};

use super::event::{EngineEvent, EventKind, NotStarted, Resolution};
use super::state::{InstanceState, Phase, RunMachine};
use crate::blueprint::Blueprint;

/// Error for a history that does not belong to a run of this blueprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidHistory {
    /// Index of the first impossible event.
    pub event_idx: usize,
}

impl fmt::Display for InvalidHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {} of the history is impossible in a run of this plan", self.event_idx)
    }
}

impl std::error::Error for InvalidHistory {}

impl RunMachine {
    /// Restores a run by replaying its history.
    pub fn restore<'e>(
        id: RunId,
        blueprint: &Blueprint,
        events: impl IntoIterator<Item = &'e EngineEvent>,
    ) -> Result<Self, InvalidHistory> {
        let mut run = Self::new(id, blueprint);
        for (event_idx, event) in events.into_iter().enumerate() {
            if !run.replay(blueprint, event) {
                return Err(InvalidHistory { event_idx });
            }
        }
        Ok(run)
    }

    /// Applies an event of a stored history if it is possible in the current state. Returns whether it was;
    /// if not, the run must not be used any further.
    #[must_use]
    pub fn replay(&mut self, blueprint: &Blueprint, event: &EngineEvent) -> bool {
        if let EventKind::Resolved { ends } = &event.kind {
            for (instance, resolution) in ends {
                if !self.can_resolve(blueprint, *instance, *resolution) {
                    return false;
                }
                self.apply_resolved(blueprint, *instance, *resolution);
            }
            return true;
        }
        let is_possible = self.is_possible_event(blueprint, &event.kind);
        if is_possible {
            self.apply(blueprint, event);
        }
        is_possible
    }

    fn is_possible_event(&self, blueprint: &Blueprint, kind: &EventKind) -> bool {
        let is_node = |node: &NodeIdx| node.index() < self.nodes.len();
        let is_begun = !matches!(self.phase, Phase::Created | Phase::Ended(_));
        let state = |instance: &InstanceIdx| self.state(*instance);
        let is_in_flight = |instance: &InstanceIdx| {
            matches!(state(instance), Some(InstanceState::Dispatched | InstanceState::Started))
        };
        match kind {
            EventKind::Began => self.phase == Phase::Created,
            EventKind::NodeLost { node } => is_node(node) && self.nodes[node.index()].lost_since.is_none(),
            EventKind::NodeBack { node } => is_node(node),
            EventKind::LateResult { instance, .. } => state(instance).is_some(),
            _ if !is_begun => false,
            EventKind::Dispatched { instance, .. } => {
                let is_waiting =
                    matches!(state(instance), Some(InstanceState::Ready | InstanceState::BackingOff));
                is_waiting && blueprint.executor_of(*instance).is_some()
            }
            EventKind::Started { instance, .. } | EventKind::AttemptEnded { instance, .. } => {
                is_in_flight(instance)
            }
            EventKind::RetryDue { instance } => state(instance) == Some(InstanceState::BackingOff),
            EventKind::NodeGivenUp { node } | EventKind::NodeEnded { node, .. } => is_node(node),
            EventKind::ToleranceExceeded { group, .. } => group.index() < self.failed.len(),
            EventKind::Resolved { .. } => true,
            EventKind::TakenOver
            | EventKind::StopRequested { .. }
            | EventKind::Paused
            | EventKind::Resumed
            | EventKind::Ended { .. } => true,
        }
    }

    fn can_resolve(&self, blueprint: &Blueprint, instance: InstanceIdx, resolution: Resolution) -> bool {
        let Some(state) = self.state(instance) else { return false };
        let is_open = !state.is_final() && self.n_open[instance.index()] == 0 && self.phase != Phase::Created;
        let is_known = match resolution {
            Resolution::Blocked { by } | Resolution::NotStarted(NotStarted::NodeFailed { by }) => {
                by.index() < self.states.len()
            }
            Resolution::NotStarted(NotStarted::NodeLost { node }) => node.index() < blueprint.nodes.len(),
            Resolution::NotStarted(NotStarted::Stopped) | Resolution::Skipped => true,
            Resolution::NotRetried(_) => return is_open && state == InstanceState::BackingOff,
        };
        is_open && is_known && matches!(state, InstanceState::Pending | InstanceState::Ready)
    }
}
