//! Applied states: what is known about the last attempts of a task on a node.

use crate::words;

words! {
    /// How an attempt ended that taints the applied state of its task and node.
    TaintCause {
        /// Dispatched, and no result is recorded.
        InFlight => "in_flight",
        Failed => "failed",
        TimedOut => "timed_out",
        Cancelled => "cancelled",
        Interrupted => "interrupted",
        /// The agent was lost, or a stale process may have overwritten a newer success.
        Unknown => "unknown",
    }
}

words! {
    /// Effect of an edited task definition on its applied states.
    OnDefinitionChange {
        /// Plan the task as if it had never succeeded.
        Rerun => "rerun",
        /// Ignore the edit until the condition of the task holds.
        Keep => "keep",
    }
}
