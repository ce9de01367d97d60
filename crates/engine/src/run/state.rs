//! State of a run.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use stoker_model::{GroupIdx, InstanceIdx, Micros, NodeIdx, RunId};

use super::cause::Causes;
use super::end::RunOutcome;
use super::input::StopMode;
use super::node::NodeState;
use super::ready::Ready;
use crate::blueprint::Blueprint;
use crate::session::AttemptKey;

/// State of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum InstanceState {
    /// A predecessor has not ended.
    Pending,
    /// All predecessors have ended; the instance may start.
    Ready,
    /// Sent to an agent.
    Dispatched,
    /// The agent has started it.
    Started,
    /// Waiting for a retry.
    BackingOff,
    Succeeded,
    Failed,
    /// Failed, without failing its node.
    Ignored,
    Skipped,
    /// A predecessor did not succeed.
    Blocked,
    Cancelled,
    NotStarted,
}

impl InstanceState {
    /// Reports whether the state is final.
    pub fn is_final(self) -> bool {
        self >= Self::Succeeded
    }

    /// Reports whether the instance needs no further work.
    pub fn needs_no_work(self) -> bool {
        matches!(self, Self::Succeeded | Self::Ignored | Self::Skipped)
    }
}

/// Phase of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    Created,
    Running,
    Paused,
    /// No further instance starts: a stop was requested, or a tolerance was exceeded.
    Stopping {
        how: StopMode,
    },
    Ended(RunOutcome),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// Deadline of an attempt in flight, or end of a backoff.
    Flight(InstanceIdx),
    /// Time at which a lost node is abandoned.
    Node(NodeIdx),
}

/// A pending decision, as a consequence of earlier ones. The queue is empty between steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Instance(InstanceIdx),
    Node(NodeIdx),
    Group(GroupIdx),
}

/// The first stage that was not passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeldStage {
    pub(super) stage: InstanceIdx,
    /// Instance that did not succeed.
    pub(super) by: InstanceIdx,
}

/// State of a run: the fold of its events.
#[derive(Clone, Debug, PartialEq)]
pub struct RunMachine {
    pub(super) id: RunId,
    pub(super) phase: Phase,
    /// Indexed by instance.
    pub(super) states: Vec<InstanceState>,
    /// For each instance, number of its last attempt; 0 if there was none.
    pub(super) attempts: Vec<u16>,
    /// For each vertex, number of predecessors that have not ended.
    pub(super) n_open: Vec<u32>,
    pub(super) causes: Causes,
    /// For each vertex of the triggers, whether an instance that triggers it may have changed its host.
    pub(super) triggered: Vec<bool>,
    pub(super) nodes: Vec<NodeState>,
    /// For each group, its failed nodes.
    pub(super) failed: Vec<Vec<NodeIdx>>,
    pub(super) exceeded: Option<GroupIdx>,
    pub(super) stop_requested: bool,
    pub(super) held_stage: Option<HeldStage>,
    pub(super) ready: Ready,
    /// Instances that occupy their node, with the deadline of the attempt or the end of the backoff.
    pub(super) flights: BTreeMap<InstanceIdx, Micros>,
    pub(super) timers: BTreeSet<(Micros, Timer)>,
    pub(super) due: VecDeque<Due>,
    /// Instances whose backoff is over.
    pub(super) retry_due: BTreeSet<InstanceIdx>,
    /// Attempts that the engine abandoned: a later report is recorded once.
    pub(super) unanswered: BTreeSet<AttemptKey>,
    pub(super) n_ended: u32,
    pub(super) n_busy: u32,
    pub(super) n_failed_nodes: u32,
}

impl RunMachine {
    /// Creates a run in phase [`Phase::Created`].
    pub fn new(id: RunId, blueprint: &Blueprint) -> Self {
        Self {
            id,
            phase: Phase::Created,
            states: vec![InstanceState::Pending; blueprint.instances.len()],
            attempts: vec![0; blueprint.instances.len()],
            n_open: blueprint.n_before.clone(),
            causes: Causes::new(blueprint.n_before.len()),
            triggered: vec![false; blueprint.handlers.n_vertices()],
            nodes: blueprint.nodes.iter().map(|node| NodeState::new(node.n_instances)).collect(),
            failed: vec![Vec::new(); blueprint.groups.len()],
            exceeded: None,
            stop_requested: false,
            held_stage: None,
            ready: Ready::new(blueprint),
            flights: BTreeMap::new(),
            timers: BTreeSet::new(),
            due: VecDeque::new(),
            retry_due: BTreeSet::new(),
            unanswered: BTreeSet::new(),
            n_ended: 0,
            n_busy: 0,
            n_failed_nodes: 0,
        }
    }
}
