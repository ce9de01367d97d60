//! Messages of a check: a read-only comparison of a node with desired states.
//!
//! Checks are stateless. Neither side retains or repeats them: a lost request or report means that the result is
//! unknown until the next check.

use stoker_model::{HostDifference, Json};

/// Request to compare the node with desired states.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckRequest {
    /// Chosen by the server, and echoed in the report.
    pub id: String,
    /// UID of the node.
    pub node: String,
    /// Time in milliseconds after which items without a result are reported as failed.
    pub timeout_ms: u64,
    pub items: Vec<CheckItem>,
    /// Values to redact in the report.
    pub secrets: Vec<String>,
}

/// A desired state, as a task describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckItem {
    pub task_type: String,
    pub parameters: Json,
}

/// Results of a [`CheckRequest`], in the order of its items.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckReport {
    pub id: String,
    pub results: Vec<CheckOutcome>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CheckOutcome {
    /// The current state was read. Without differences the node is in the desired state.
    Compared { diff: Vec<HostDifference> },
    /// The current state is unknown.
    Failed { message: String },
}
