//! Pauses between attempts to connect.

use std::time::Duration;

/// Each pause is drawn from a range that doubles, so that agents that lost one server together do not come back together.
#[derive(Debug)]
pub(crate) struct Backoff {
    min: Duration,
    max: Duration,
    n_failures: u32,
}

impl Backoff {
    pub(crate) fn new((min, max): (Duration, Duration)) -> Self {
        Self { min, max, n_failures: 0 }
    }

    pub(crate) fn reset(&mut self) {
        self.n_failures = 0;
    }

    pub(crate) fn next(&mut self) -> Duration {
        self.next_of(getrandom::u32().unwrap_or(u32::MAX / 2))
    }

    /// Between half of the range and all of it.
    fn next_of(&mut self, dice: u32) -> Duration {
        let range = self.min.saturating_mul(2_u32.saturating_pow(self.n_failures.min(20))).min(self.max);
        self.n_failures = self.n_failures.saturating_add(1);
        let share = 0.5 + 0.5 * f64::from(dice) / f64::from(u32::MAX);
        range.mul_f64(share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit_and_start_again() {
        let mut backoff = Backoff::new((Duration::from_secs(1), Duration::from_secs(10)));
        let longest: Vec<u64> = (0..6).map(|_| backoff.next_of(u32::MAX).as_secs()).collect();
        assert_eq!(longest, [1, 2, 4, 8, 10, 10]);
        assert_eq!(backoff.next_of(0), Duration::from_secs(5));
        backoff.reset();
        assert_eq!(backoff.next_of(0), Duration::from_millis(500));
        for _ in 0..100 {
            assert!(backoff.next() <= Duration::from_secs(10));
        }
    }
}
