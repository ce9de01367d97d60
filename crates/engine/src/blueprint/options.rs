//! What can be chosen for a run as a whole.

use crate::session::Mode;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Nodes that carry out something at the same time.
    pub nodes_at_once: u32,
    pub on_failure: OnFailure,
    pub at_stages: AtStages,
    /// How many of the nodes that have something to do may fail, whatever groups they are in: a number or a percentage.
    pub fault_tolerance: Option<String>,
    pub mode: Mode,
    /// Executors say more.
    pub debug: bool,
    /// A node that is silent for longer is given up, with what it was doing.
    pub lost_after_ms: u64,
    /// What is granted to an agent beyond the timeout of a task before it is taken to have forgotten it.
    pub grace_ms: u64,
    /// Whether tasks that do not say so themselves are begun again when they were interrupted; none: as their type has it.
    pub retry_interrupted: Option<bool>,
    /// The longest pause between two attempts.
    pub backoff_max_ms: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            nodes_at_once: 50,
            on_failure: OnFailure::NodeStops,
            at_stages: AtStages::Pass,
            fault_tolerance: None,
            mode: Mode::Normal,
            debug: false,
            lost_after_ms: 300_000,
            grace_ms: 60_000,
            retry_interrupted: None,
            backoff_max_ms: 60_000,
        }
    }
}

/// What a node does after one of its tasks has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// It takes nothing more.
    NodeStops,
    /// It goes on with what does not depend on the failure.
    NodeContinues,
}

/// Whether a stage is passed by healthy nodes when others failed before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtStages {
    Pass,
    /// Nothing after the stage is begun.
    Hold,
}
