//! Token bucket rate limiter for all limits per user or address.

use std::collections::HashMap;
use std::hash::Hash;

use parking_lot::Mutex;
use stoker_model::Micros;

/// Number of keys stored before full buckets are evicted.
const KEYS_MAX: usize = 50_000;

/// Size and refill rate of a bucket.
#[derive(Clone, Copy)]
pub(crate) struct RateLimit {
    /// Number of tokens in a full bucket.
    pub(crate) burst: i64,
    /// Time in which one token is refilled.
    pub(crate) interval_micros: i64,
}

impl RateLimit {
    /// Creates a limit of `n_tokens` per minute; a burst can use the tokens of one minute.
    pub(crate) fn per_minute(n_tokens: u32) -> Self {
        let burst = i64::from(n_tokens.max(1));
        Self { burst, interval_micros: 60 * Micros::SECOND / burst }
    }
}

/// One bucket per key. A caller that is subject to several limits passes one key for each.
pub(crate) struct RateLimiter<K> {
    /// For each key, the time at which its token bucket is full again.
    full_at: Mutex<HashMap<K, Micros>>,
}

impl<K> Default for RateLimiter<K> {
    fn default() -> Self {
        Self { full_at: Mutex::default() }
    }
}

impl<K: Eq + Hash> RateLimiter<K> {
    /// Takes one token from each bucket, or none if one of them is empty. The error is the number of seconds
    /// until all of them have a token.
    pub(crate) fn take<const N: usize>(&self, keys: [(K, RateLimit); N], now: Micros) -> Result<(), i64> {
        let mut full_at = self.full_at.lock();
        wait(&full_at, &keys, now)?;
        if full_at.len() >= KEYS_MAX {
            full_at.retain(|_, at| *at > now);
        }
        for (key, limit) in keys {
            let at = full_at.entry(key).or_insert(now);
            *at = Micros((*at).max(now).0 + limit.interval_micros);
        }
        Ok(())
    }

    /// Like [`RateLimiter::take`], without taking tokens.
    pub(crate) fn check(&self, keys: &[(K, RateLimit)], now: Micros) -> Result<(), i64> {
        wait(&self.full_at.lock(), keys, now)
    }

    /// Puts back the tokens of a call of [`RateLimiter::take`].
    pub(crate) fn refund(&self, keys: &[(K, RateLimit)]) {
        let mut full_at = self.full_at.lock();
        for (key, limit) in keys {
            if let Some(at) = full_at.get_mut(key) {
                at.0 -= limit.interval_micros;
            }
        }
    }
}

fn wait<K: Eq + Hash>(full_at: &HashMap<K, Micros>, keys: &[(K, RateLimit)], now: Micros) -> Result<(), i64> {
    let waits = keys.iter().map(|(key, limit)| {
        let refill_micros = full_at.get(key).map_or(0, |at| at.0 - now.0);
        refill_micros - (limit.burst - 1) * limit.interval_micros
    });
    match waits.max() {
        Some(longest) if longest > 0 => Err(longest.div_euclid(Micros::SECOND) + 1),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_is_per_minute_and_key() {
        let limiter = RateLimiter::default();
        let take = |key: i64, now| limiter.take([(key, RateLimit::per_minute(6))], now);
        let now = Micros(5);
        for _ in 0..6 {
            assert_eq!(take(1, now), Ok(()));
        }
        let wait = take(1, now).unwrap_err();
        assert!((10..=11).contains(&wait), "{wait}");
        assert_eq!(take(2, now), Ok(()));
        assert_eq!(take(1, now.plus_seconds(wait)), Ok(()));
        assert!(take(1, now.plus_seconds(wait)).is_err());
        for _ in 0..6 {
            assert_eq!(take(1, now.plus_seconds(600)), Ok(()));
        }
    }

    #[test]
    fn tokens_are_taken_from_all_buckets_or_none() {
        let limiter = RateLimiter::default();
        let limit = |burst| RateLimit { burst, interval_micros: Micros::SECOND };
        let (small, large) = (("small", limit(1)), ("large", limit(3)));
        assert_eq!(limiter.take([small, large], Micros(0)), Ok(()));
        for _ in 0..10 {
            assert!(limiter.take([small, large], Micros(0)).is_err());
        }
        assert_eq!(limiter.check(&[large], Micros(0)), Ok(()));
        limiter.refund(&[small, large]);
        assert_eq!(limiter.take([small, large], Micros(0)), Ok(()));
    }

    #[test]
    fn only_full_buckets_are_evicted() {
        let limiter = RateLimiter::default();
        let limit = RateLimit::per_minute(60);
        for key in 0..100_000 {
            assert_eq!(limiter.take([(key, limit)], Micros(key * Micros::SECOND)), Ok(()));
        }
        assert!(limiter.full_at.lock().len() <= KEYS_MAX);
    }
}
