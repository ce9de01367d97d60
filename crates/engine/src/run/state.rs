//! What a run is at one moment.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use stoker_model::{Micros, RunId};

use super::end::RunEnd;
use super::input::StopHow;
use super::node::NodeState;
use super::ready::Ready;
use crate::blueprint::{Blueprint, NONE};

/// Where an instance is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum State {
    /// Something before it has not ended.
    Pending,
    /// It could begin.
    Ready,
    /// An agent was asked.
    Dispatched,
    /// The agent has begun.
    Started,
    /// Between two attempts.
    Pausing,
    Succeeded,
    Failed,
    /// Failed, and the task says that this does not matter.
    Ignored,
    Skipped,
    /// Something before it did not succeed.
    Blocked,
    Cancelled,
    NotStarted,
}

impl State {
    /// It will never be anything else.
    pub fn is_end(self) -> bool {
        self >= Self::Succeeded
    }

    /// Nothing is left to do about it.
    pub fn is_good(self) -> bool {
        matches!(self, Self::Succeeded | Self::Ignored | Self::Skipped)
    }
}

/// Where the run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    Created,
    Running,
    Paused,
    /// Nothing more is begun: somebody asked for it, or too many nodes have failed.
    Stopping {
        how: StopHow,
    },
    Ended(RunEnd),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// Of an instance in flight, or between two attempts.
    Flight(u32),
    /// Of a node that is lost.
    Node(u32),
}

/// What has to be decided next, as a consequence of what was decided before. Empty between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Instance(u32),
    Node(u32),
    Group(u32),
}

/// The state of a run: the fold of its events.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub(super) id: RunId,
    pub(super) phase: Phase,
    /// By instance.
    pub(super) states: Vec<State>,
    /// By instance the number of its last attempt; 0 if there was none.
    pub(super) attempts: Vec<u16>,
    /// By vertex how many before it have not ended.
    pub(super) n_open: Vec<u32>,
    /// By vertex the instance because of which nothing after it can be done.
    pub(super) cause: Vec<u32>,
    pub(super) nodes: Vec<NodeState>,
    /// By group its nodes that have failed.
    pub(super) failed: Vec<Vec<u32>>,
    pub(super) exceeded: Option<u32>,
    pub(super) is_stop_asked: bool,
    /// The first stage that was not passed.
    pub(super) held: Option<u32>,
    pub(super) ready: Ready,
    /// Instances that occupy their node, and when each is looked at again: an answer is overdue, or a pause over.
    pub(super) flights: BTreeMap<u32, Micros>,
    pub(super) timers: BTreeSet<(Micros, Timer)>,
    pub(super) due: VecDeque<Due>,
    /// Between two attempts, and the pause is over.
    pub(super) again: BTreeSet<u32>,
    /// Attempts that were ended here, instance and number: what an agent says of them is news, once.
    pub(super) unanswered: BTreeSet<(u32, u32)>,
    pub(super) n_ended: u32,
    pub(super) n_busy: u32,
    pub(super) n_failed_nodes: u32,
}

impl Run {
    /// A run that has not begun.
    pub fn new(id: RunId, blueprint: &Blueprint) -> Self {
        Self {
            id,
            phase: Phase::Created,
            states: vec![State::Pending; blueprint.instances.len()],
            attempts: vec![0; blueprint.instances.len()],
            n_open: blueprint.n_before.clone(),
            cause: vec![NONE; blueprint.n_before.len()],
            nodes: blueprint.nodes.iter().map(|node| NodeState::new(node.n_instances)).collect(),
            failed: vec![Vec::new(); blueprint.groups.len()],
            exceeded: None,
            is_stop_asked: false,
            held: None,
            ready: Ready::new(blueprint),
            flights: BTreeMap::new(),
            timers: BTreeSet::new(),
            due: VecDeque::new(),
            again: BTreeSet::new(),
            unanswered: BTreeSet::new(),
            n_ended: 0,
            n_busy: 0,
            n_failed_nodes: 0,
        }
    }
}
