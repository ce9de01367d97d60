//! Token bucket rate limiter.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use stoker_model::Micros;

const MINUTE: i64 = 60 * Micros::SECOND;
/// Number of keys stored before expired ones are evicted.
const KEYS_MAX: usize = 10_000;

/// Allows a number of requests per minute and key, with a burst of one minute's worth.
pub(super) struct Pace {
    interval: i64,
    /// For each key, the time at which its token bucket is full again.
    refilled_at: Mutex<HashMap<i64, Micros>>,
}

impl Pace {
    pub(super) fn new(per_minute: u32) -> Self {
        Self { interval: MINUTE / i64::from(per_minute.max(1)), refilled_at: Mutex::default() }
    }

    /// Takes one token. `Err`: seconds until the next one is available.
    pub(super) fn take(&self, key: i64, now: Micros) -> Result<(), i64> {
        let mut refilled_at = self.refilled_at.lock().unwrap_or_else(PoisonError::into_inner);
        if refilled_at.len() >= KEYS_MAX {
            refilled_at.retain(|_, at| *at > now);
        }
        let at = refilled_at.entry(key).or_insert(now);
        let paid = (*at).max(now).0 + self.interval;
        let too_early = paid - now.0 - MINUTE;
        if too_early > 0 {
            return Err(too_early.div_euclid(Micros::SECOND) + 1);
        }
        *at = Micros(paid);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_is_per_minute_and_key() {
        let pace = Pace::new(6);
        let now = Micros(5);
        for _ in 0..6 {
            assert_eq!(pace.take(1, now), Ok(()));
        }
        let wait = pace.take(1, now).unwrap_err();
        assert!((10..=11).contains(&wait), "{wait}");
        assert_eq!(pace.take(2, now), Ok(()));
        assert_eq!(pace.take(1, now.plus_seconds(wait)), Ok(()));
        assert!(pace.take(1, now.plus_seconds(wait)).is_err());
        for _ in 0..6 {
            assert_eq!(pace.take(1, now.plus_seconds(600)), Ok(()));
        }
    }

    #[test]
    fn only_full_buckets_are_evicted() {
        let pace = Pace::new(60);
        for key in 0..20_000 {
            assert_eq!(pace.take(key, Micros(key * Micros::SECOND)), Ok(()));
        }
        assert!(pace.refilled_at.lock().unwrap().len() <= KEYS_MAX);
    }
}
