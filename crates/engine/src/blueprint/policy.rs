//! How long a task may take, and how often it is tried.

/// What is decided about an instance before it is begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// Of one attempt.
    pub timeout_ms: u64,
    /// Further attempts after one that failed, timed out or was refused.
    pub n_retries: u32,
    /// Between the first two attempts; doubled each time.
    pub interval_ms: u64,
    /// A failure is fatal for the node. If not, it is recorded and everything goes on.
    pub fail_on_error: bool,
    /// Whether it may be begun again if nobody knows how far it came.
    pub retry_interrupted: bool,
}

impl Policy {
    /// The pause after an attempt, numbered from 1.
    pub(crate) fn pause_ms(&self, attempt: u32, max_ms: u64) -> u64 {
        let doubled = 1_u64.checked_shl(attempt.saturating_sub(1)).unwrap_or(u64::MAX);
        self.interval_ms.saturating_mul(doubled).min(max_ms)
    }
}

/// Whose agent carries a task out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunsOn {
    /// That of the node.
    Node,
    /// That of the master, for the node.
    Master,
    /// Nobody's: it only gives the graph its shape.
    Nowhere,
}

/// What is known of a type of task, where a task says nothing else in `parameters.timeout`, `retries`, `interval` and
/// `retry_interrupted`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    pub runs_on: RunsOn,
    pub timeout_s: u64,
    pub n_retries: u32,
    pub interval_s: u64,
    /// Doing it twice is the same as doing it once, so an interrupted attempt is tried again.
    pub is_idempotent: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_are_bounded() {
        let policy = Policy {
            timeout_ms: 300_000,
            n_retries: 2,
            interval_ms: 2000,
            fail_on_error: true,
            retry_interrupted: false,
        };
        let pauses: Vec<u64> = [1, 2, 3, 5, 6, 64, 65, u32::MAX].map(|it| policy.pause_ms(it, 60_000)).into();
        assert_eq!(pauses, [2000, 4000, 8000, 32_000, 60_000, 60_000, 60_000, 60_000]);
    }
}
