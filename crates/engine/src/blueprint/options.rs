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
    /// Time in milliseconds without contact after which a node and its running attempts are abandoned.
    pub lost_after_ms: u64,
    /// Time in milliseconds after the timeout of a task until the agent counts as having lost the result.
    pub result_grace_ms: u64,
    /// Whether interrupted attempts are retried, unless the task specifies it; `None` uses the default of the
    /// task type.
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

/// Behaviour of a node after one of its tasks has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailurePolicy {
    /// Skips its remaining tasks.
    NodeStops,
    /// Continues with tasks that do not depend on the failed one.
    NodeContinues,
}

impl FailurePolicy {
    pub const NAMES: &[&str] = &["node_stops", "node_continues"];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::NodeStops => "node_stops",
            Self::NodeContinues => "node_continues",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        [Self::NodeStops, Self::NodeContinues].into_iter().find(|policy| policy.as_str() == name)
    }
}

/// Whether healthy nodes pass a stage if other nodes failed before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StagePolicy {
    Pass,
    /// Tasks after the stage do not start.
    Hold,
}

impl StagePolicy {
    pub const NAMES: &[&str] = &["pass", "hold"];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Hold => "hold",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        [Self::Pass, Self::Hold].into_iter().find(|policy| policy.as_str() == name)
    }
}
