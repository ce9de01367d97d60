//! [`Host`] of YAQL evaluations: system clock, random source and time limit.

#![expect(clippy::disallowed_methods, reason = "clocks are read here and nowhere else")]

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use stoker_yaql::Host;

/// Reusable host. The time zone is UTC so that results do not depend on the machine.
pub(crate) struct SystemHost {
    random: AtomicU64,
    created: Instant,
    /// Deadline of the current evaluation, in nanoseconds since `created`.
    deadline_ns: AtomicU64,
    limit: Option<Duration>,
}

impl SystemHost {
    pub(crate) fn new(limit: Option<Duration>) -> Self {
        let host = Self {
            // `RandomState` takes its keys from the random source of the operating system.
            random: AtomicU64::new(RandomState::new().hash_one(std::process::id())),
            created: Instant::now(),
            deadline_ns: AtomicU64::new(u64::MAX),
            limit,
        };
        host.start();
        host
    }

    /// Restarts the time limit for the next evaluation.
    pub(crate) fn start(&self) {
        let Some(limit) = self.limit else { return };
        let deadline_ns =
            u64::try_from((self.created.elapsed().saturating_add(limit)).as_nanos()).unwrap_or(u64::MAX);
        self.deadline_ns.store(deadline_ns, Ordering::Relaxed);
    }
}

/// Returns the current Unix time in whole seconds, the resolution of certificates.
pub(crate) fn unix_seconds() -> i64 {
    i64::try_from(unix_time().as_secs()).unwrap_or(i64::MAX)
}

fn unix_time() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

impl Host for SystemHost {
    fn now_micros(&self) -> i64 {
        i64::try_from(unix_time().as_micros()).unwrap_or(i64::MAX)
    }

    /// Returns random bits from `SplitMix64`, which is fast and not cryptographically secure.
    fn random_bits(&self) -> u64 {
        const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
        let state = self.random.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn is_interrupted(&self) -> bool {
        u128::from(self.deadline_ns.load(Ordering::Relaxed)) < self.created.elapsed().as_nanos()
    }
}

/// Returns 32 cryptographically secure random bytes, the size of a key.
pub(crate) fn random_bytes() -> Result<[u8; 32], getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_resets_the_time_limit() {
        let host = SystemHost::new(Some(Duration::ZERO));
        while !host.is_interrupted() {}
        let unhurried = SystemHost::new(Some(Duration::from_hours(1)));
        unhurried.start();
        assert!(!unhurried.is_interrupted());
        assert!(!SystemHost::new(None).is_interrupted());
    }

    #[test]
    fn random_bits_differ() {
        let host = SystemHost::new(None);
        assert_ne!(host.random_bits(), host.random_bits());
    }

    #[test]
    fn clock_returns_the_current_time() {
        assert!(SystemHost::new(None).now_micros() > 1_577_836_800_000_000);
    }
}
