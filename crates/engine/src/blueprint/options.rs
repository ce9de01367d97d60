//! Options of a run.

use crate::session::Mode;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutionOptions {
    /// Maximum number of nodes that execute tasks concurrently.
    pub max_concurrent_nodes: u32,
    pub on_failure: FailurePolicy,
    pub at_stages: StagePolicy,
    /// Number or percentage of nodes with work that may fail, regardless of tolerance groups.
    pub fault_tolerance: Option<String>,
    pub mode: Mode,
    /// Verbose executor output.
    pub debug: bool,
    /// Milliseconds without contact after which a node is given up together with its running attempts.
    pub lost_after_ms: u64,
    /// Milliseconds beyond the timeout of a task before a missing result counts as lost by the agent.
    pub result_grace_ms: u64,
    /// Whether interrupted attempts are retried, unless the task says so itself; `None` uses the default of
    /// the task type.
    pub retry_interrupted: Option<bool>,
    /// Upper bound of the backoff between two attempts in milliseconds.
    pub backoff_max_ms: u64,
}

impl Default for ExecutionOptions {
    fn default() -> Self {
        Self {
            max_concurrent_nodes: 50,
            on_failure: FailurePolicy::NodeStops,
            at_stages: StagePolicy::Pass,
            fault_tolerance: None,
            mode: Mode::Normal,
            debug: false,
            lost_after_ms: 300_000,
            result_grace_ms: 60_000,
            retry_interrupted: None,
            backoff_max_ms: 60_000,
        }
    }
}

/// What a node does after one of its tasks failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailurePolicy {
    /// Skips its remaining tasks.
    NodeStops,
    /// Continues with tasks that do not depend on the failed one.
    NodeContinues,
}

/// Whether healthy nodes pass a stage if other nodes failed before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StagePolicy {
    Pass,
    /// No task after the stage starts.
    Hold,
}
