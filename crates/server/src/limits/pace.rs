//! How often something may be asked for.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use stoker_model::Micros;

const MINUTE: i64 = 60 * Micros::SECOND;
/// Keys remembered before those that no longer matter are swept out.
const KEYS_MAX: usize = 10_000;

/// So many a minute for each key. Whoever has not asked for a minute may ask for all of them at once.
pub(super) struct Pace {
    interval: i64,
    /// For each key the time at which everything it asked for is paid.
    paid_at: Mutex<HashMap<i64, Micros>>,
}

impl Pace {
    pub(super) fn new(per_minute: u32) -> Self {
        Self { interval: MINUTE / i64::from(per_minute.max(1)), paid_at: Mutex::default() }
    }

    /// Or the seconds to wait.
    pub(super) fn take(&self, key: i64, now: Micros) -> Result<(), i64> {
        let mut paid_at = self.paid_at.lock().unwrap_or_else(PoisonError::into_inner);
        if paid_at.len() >= KEYS_MAX {
            paid_at.retain(|_, at| *at > now);
        }
        let at = paid_at.entry(key).or_insert(now);
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
    fn a_minute_has_so_many_and_each_key_its_own() {
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
    fn who_is_forgotten_owed_nothing() {
        let pace = Pace::new(60);
        for key in 0..20_000 {
            assert_eq!(pace.take(key, Micros(key * Micros::SECOND)), Ok(()));
        }
        assert!(pace.paid_at.lock().unwrap().len() <= KEYS_MAX);
    }
}
