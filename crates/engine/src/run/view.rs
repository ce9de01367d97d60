//! Queries on the state of a run.

use stoker_model::{GroupIdx, InstanceIdx, Micros, NodeIdx, RunId};

use super::end::NodeOutcome;
use super::event::RunEffect;
use super::input::StopMode;
use super::state::{InstanceState, Phase, RunMachine};
use crate::blueprint::Blueprint;
use crate::session::{AttemptKey, CancelMode, InFlight};

/// Number of instances in each state, in the order of [`InstanceState`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts(pub [u32; InstanceState::NotStarted as usize + 1]);

impl Counts {
    pub fn of(&self, state: InstanceState) -> u32 {
        self.0[state as usize]
    }
}

impl RunMachine {
    pub fn id(&self) -> RunId {
        self.id
    }

    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    pub fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended(_))
    }

    pub fn state(&self, instance: InstanceIdx) -> Option<InstanceState> {
        self.states.get(instance.index()).copied()
    }

    /// Returns the number of attempts of an instance.
    pub fn n_attempts(&self, instance: InstanceIdx) -> u32 {
        self.attempts.get(instance.index()).copied().map_or(0, u32::from)
    }

    /// Returns the instance whose failure blocks the given instance.
    pub fn cause(&self, instance: InstanceIdx) -> Option<InstanceIdx> {
        if self.state(instance) == Some(InstanceState::Blocked) {
            self.causes.instance(instance)
        } else {
            None
        }
    }

    /// Returns the outcome of a node, if it has ended.
    pub fn node_end(&self, node: NodeIdx) -> Option<NodeOutcome> {
        self.nodes.get(node.index())?.end
    }

    /// Returns the failed nodes of a group.
    pub fn failed_nodes(&self, group: GroupIdx) -> &[NodeIdx] {
        self.failed.get(group.index()).map_or(&[], Vec::as_slice)
    }

    /// Returns the group whose tolerance was exceeded, which stops a run without a stop request.
    pub fn exceeded_group(&self) -> Option<GroupIdx> {
        self.exceeded
    }

    /// Reports whether a stop was requested. The run may have finished nevertheless; its successor must not
    /// start.
    pub fn stop_requested(&self) -> bool {
        self.stop_requested
    }

    /// Returns the percentage of instances that have ended.
    pub fn progress(&self) -> u32 {
        percent(self.n_ended, self.states.len() as u32)
    }

    /// Returns the percentage of the node's instances that have ended.
    pub fn node_progress(&self, blueprint: &Blueprint, node: NodeIdx) -> u32 {
        let (Some(state), Some(node)) = (self.nodes.get(node.index()), blueprint.nodes.get(node.index()))
        else {
            return 100;
        };
        percent(node.n_instances - state.n_open, node.n_instances)
    }

    /// Counts instances by state. Linear in the number of instances.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for state in &self.states {
            counts.0[*state as usize] += 1;
        }
        counts
    }

    /// Attempts in flight, to be sent to agents again after a restart of the server.
    pub fn in_flight(&self) -> impl Iterator<Item = InFlight> {
        let cancel = self.cancel_how();
        let in_flight = self.flights.keys().filter(|idx| {
            matches!(self.states[idx.index()], InstanceState::Dispatched | InstanceState::Started)
        });
        in_flight.map(move |idx| InFlight {
            key: self.key(*idx),
            is_started: self.states[idx.index()] == InstanceState::Started,
            cancel,
        })
    }

    /// Returns the time of the next timer.
    pub fn next_timer(&self) -> Option<Micros> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// Returns all effects that follow from the current state. After a restart, the caller executes them to
    /// replace effects that were decided but not executed.
    pub fn effects(&self) -> Vec<RunEffect> {
        let mut effects: Vec<RunEffect> =
            self.in_flight().map(|flight| RunEffect::Dispatch(flight.key)).collect();
        effects.extend(self.cancels());
        effects.extend(self.next_timer().map(RunEffect::WakeAt));
        let ends = NodeIdx::first(self.nodes.len())
            .zip(&self.nodes)
            .filter_map(|(node, state)| Some((node, state.end?)));
        effects.extend(ends.map(|(node, end)| RunEffect::NodeEnded { node, end }));
        if let Phase::Ended(end) = &self.phase {
            effects.push(RunEffect::RunEnded(end.clone()));
        }
        effects
    }

    pub(super) fn cancels(&self) -> Vec<RunEffect> {
        let how = |flight: InFlight| Some(RunEffect::Cancel { key: flight.key, how: flight.cancel? });
        self.in_flight().filter_map(how).collect()
    }

    fn cancel_how(&self) -> Option<CancelMode> {
        match self.phase {
            Phase::Stopping { how: StopMode::Graceful } => Some(CancelMode::Graceful),
            Phase::Stopping { how: StopMode::Now } => Some(CancelMode::Now),
            _ => None,
        }
    }

    /// Returns the key of the last attempt of an instance.
    pub(super) fn key(&self, instance: InstanceIdx) -> AttemptKey {
        AttemptKey { run: self.id, instance, attempt: u32::from(self.attempts[instance.index()]) }
    }
}

fn percent(part: u32, whole: u32) -> u32 {
    if whole == 0 { 100 } else { (u64::from(part) * 100 / u64::from(whole)) as u32 }
}
