//! Exponential backoff with jitter.

use std::time::Duration;

/// First and longest delay between attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackoffLimits {
    pub min: Duration,
    pub max: Duration,
}

/// Delays double from the first up to the longest, with jitter so that agents that lost the same server do not
/// reconnect in lockstep.
#[derive(Debug)]
pub(crate) struct Backoff {
    limits: BackoffLimits,
    n_failures: u32,
}

impl Backoff {
    pub(crate) fn new(limits: BackoffLimits) -> Self {
        Self { limits, n_failures: 0 }
    }

    pub(crate) fn reset(&mut self) {
        self.n_failures = 0;
    }

    pub(crate) fn next(&mut self) -> Duration {
        self.next_with(getrandom::u32().unwrap_or(u32::MAX / 2))
    }

    /// Returns a delay between half of the current backoff and all of it.
    fn next_with(&mut self, random: u32) -> Duration {
        let BackoffLimits { min, max } = self.limits;
        let backoff = min.saturating_mul(2_u32.saturating_pow(self.n_failures.min(20))).min(max);
        self.n_failures = self.n_failures.saturating_add(1);
        let jitter = 0.5 + 0.5 * f64::from(random) / f64::from(u32::MAX);
        backoff.mul_f64(jitter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_maximum_and_reset() {
        let mut backoff =
            Backoff::new(BackoffLimits { min: Duration::from_secs(1), max: Duration::from_secs(10) });
        let delays: Vec<u64> = (0..6).map(|_| backoff.next_with(u32::MAX).as_secs()).collect();
        assert_eq!(delays, [1, 2, 4, 8, 10, 10]);
        assert_eq!(backoff.next_with(0), Duration::from_secs(5));
        backoff.reset();
        assert_eq!(backoff.next_with(0), Duration::from_millis(500));
        for _ in 0..100 {
            assert!(backoff.next() <= Duration::from_secs(10));
        }
    }
}
