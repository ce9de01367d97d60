//! Timeouts and retries of tasks.

use std::num::NonZeroU32;

/// Timeout and retry policy of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// Timeout of one attempt.
    pub timeout_ms: u64,
    /// Maximum number of retries after a failed, timed-out or refused attempt.
    pub n_retries: u32,
    /// Pause before the first retry; doubled with each further retry.
    pub interval_ms: u64,
    /// Whether a failure fails the node. If not, it is recorded and the run continues.
    pub fail_on_error: bool,
    /// Whether an attempt may be retried if it was interrupted at an unknown point.
    pub retry_interrupted: bool,
}

impl Policy {
    /// Returns the exponential backoff after an attempt; attempts are numbered from 1.
    pub(crate) fn backoff_ms(&self, attempt: u32, max_ms: u64) -> u64 {
        let doubled = 1_u64.checked_shl(attempt.saturating_sub(1)).unwrap_or(u64::MAX);
        self.interval_ms.saturating_mul(doubled).min(max_ms)
    }
}

/// Index of a policy in a blueprint. Stored as a non-zero integer so that `Option<PolicyIdx>` needs no extra
/// space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct PolicyIdx(NonZeroU32);

impl PolicyIdx {
    pub(crate) fn at(position: usize) -> Self {
        Self(NonZeroU32::MIN.saturating_add(position as u32))
    }

    pub(crate) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// Agent that executes a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executor {
    /// The agent of the node.
    Node,
    /// The master's agent, on behalf of the node.
    Master,
    /// No agent executes the task: it only structures the graph.
    None,
}

/// Defaults of a task type, overridden by `timeout`, `retries`, `interval` and `retry_interrupted` in the
/// parameters of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeDefaults {
    pub runs_on: Executor,
    pub timeout_s: u64,
    pub n_retries: u32,
    pub interval_s: u64,
    /// Tasks of this type are idempotent, so an interrupted attempt is retried.
    pub is_idempotent: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_and_is_bounded() {
        let policy = Policy {
            timeout_ms: 300_000,
            n_retries: 2,
            interval_ms: 2000,
            fail_on_error: true,
            retry_interrupted: false,
        };
        let backoffs: Vec<u64> =
            [1, 2, 3, 5, 6, 64, 65, u32::MAX].map(|it| policy.backoff_ms(it, 60_000)).into();
        assert_eq!(backoffs, [2000, 4000, 8000, 32_000, 60_000, 60_000, 60_000, 60_000]);
    }
}
