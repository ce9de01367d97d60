//! The world as expressions see it: the system's clock, random bits, and a time limit.

#![expect(clippy::disallowed_methods, reason = "clocks are read here and nowhere else")]

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use stoker_yaql::Host;

/// A host for one evaluation after another. The time zone is UTC, so that a result does not depend on where the
/// program runs.
pub(crate) struct SystemHost {
    random: AtomicU64,
    born: Instant,
    /// Nanoseconds since birth at which the current evaluation is to end.
    deadline_ns: AtomicU64,
    limit: Option<Duration>,
}

impl SystemHost {
    pub(crate) fn new(limit: Option<Duration>) -> Self {
        let host = Self {
            // The keys of the standard hasher come from the system's source of random numbers.
            random: AtomicU64::new(RandomState::new().hash_one(std::process::id())),
            born: Instant::now(),
            deadline_ns: AtomicU64::new(u64::MAX),
            limit,
        };
        host.start();
        host
    }

    /// Begins the time of an evaluation.
    pub(crate) fn start(&self) {
        let Some(limit) = self.limit else { return };
        let deadline_ns =
            u64::try_from((self.born.elapsed().saturating_add(limit)).as_nanos()).unwrap_or(u64::MAX);
        self.deadline_ns.store(deadline_ns, Ordering::Relaxed);
    }
}

/// For certificates, which know no fractions.
pub(crate) fn unix_seconds() -> i64 {
    i64::try_from(since_1970().as_secs()).unwrap_or(i64::MAX)
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

impl Host for SystemHost {
    fn now_micros(&self) -> i64 {
        i64::try_from(since_1970().as_micros()).unwrap_or(i64::MAX)
    }

    /// The generator is `SplitMix64`: a few operations, and good enough for what is no secret.
    fn random_bits(&self) -> u64 {
        const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
        let state = self.random.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn is_interrupted(&self) -> bool {
        u128::from(self.deadline_ns.load(Ordering::Relaxed)) < self.born.elapsed().as_nanos()
    }
}

/// Seconds since 1970.
pub(crate) fn now_seconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// For keys.
pub(crate) fn random_bytes() -> Result<[u8; 32], getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_evaluation_is_interrupted_when_its_time_is_over_and_the_next_one_starts_afresh() {
        let host = SystemHost::new(Some(Duration::ZERO));
        while !host.is_interrupted() {}
        let patient = SystemHost::new(Some(Duration::from_hours(1)));
        patient.start();
        assert!(!patient.is_interrupted());
        assert!(!SystemHost::new(None).is_interrupted());
    }

    #[test]
    fn random_bits_differ() {
        let host = SystemHost::new(None);
        assert_ne!(host.random_bits(), host.random_bits());
    }

    #[test]
    fn the_clock_is_past_the_year_2020() {
        assert!(SystemHost::new(None).now_micros() > 1_577_836_800_000_000);
    }
}
