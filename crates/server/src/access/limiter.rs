//! Rate limiter for failed logins. Only failures count: real clients log in for every command.
//!
//! Failures are counted per user and address, and per address. They are not counted per user alone: that would let
//! anyone lock out any user.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use stoker_model::Micros;

/// Token bucket parameters.
#[derive(Clone, Copy)]
struct RateLimit {
    /// Number of failures allowed in a burst.
    burst: i64,
    /// Refill interval of one failure.
    interval_micros: i64,
}

const USER_LIMIT: RateLimit = RateLimit { burst: 10, interval_micros: 10 * Micros::SECOND };
const ADDRESS_LIMIT: RateLimit = RateLimit { burst: 100, interval_micros: Micros::SECOND };
/// Number of keys stored before expired ones are evicted.
const KEYS_MAX: usize = 50_000;

/// Rate limiter for failed logins.
#[derive(Default)]
pub(crate) struct FailureLimiter {
    /// For each key, the time at which its token bucket is full again.
    refilled_at: Mutex<HashMap<Key, Micros>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    User(String, IpAddr),
    Address(IpAddr),
}

impl FailureLimiter {
    /// Counts an attempt as failed before it is made, so that concurrent attempts cannot bypass the limit;
    /// [`FailureLimiter::succeeded`] takes a success back. `Err`: seconds until the next attempt is allowed.
    pub(crate) fn begin(&self, user: &str, address: IpAddr, now: Micros) -> Result<(), i64> {
        let mut refilled_at = self.refilled_at.lock().unwrap_or_else(PoisonError::into_inner);
        wait(&refilled_at, user, address, now)?;
        if refilled_at.len() >= KEYS_MAX {
            refilled_at.retain(|_, at| *at > now);
        }
        for (key, limit) in keys(user, address) {
            let at = refilled_at.entry(key).or_insert(now);
            *at = Micros((*at).max(now).0 + limit.interval_micros);
        }
        Ok(())
    }

    /// Checks the limit without counting an attempt. For secrets that cannot be guessed by brute force and that many
    /// machines behind one address present at once. Callers count a failure with [`FailureLimiter::begin`] afterwards.
    pub(crate) fn check(&self, user: &str, address: IpAddr, now: Micros) -> Result<(), i64> {
        wait(&self.refilled_at.lock().unwrap_or_else(PoisonError::into_inner), user, address, now)
    }

    pub(crate) fn succeeded(&self, user: &str, address: IpAddr) {
        let mut refilled_at = self.refilled_at.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, limit) in keys(user, address) {
            if let Some(at) = refilled_at.get_mut(&key) {
                at.0 -= limit.interval_micros;
            }
        }
    }
}

fn wait(refilled_at: &HashMap<Key, Micros>, user: &str, address: IpAddr, now: Micros) -> Result<(), i64> {
    let waits = keys(user, address).map(|(key, limit)| {
        let debt_micros = refilled_at.get(&key).map_or(0, |at| at.0 - now.0);
        debt_micros - limit.burst * limit.interval_micros + limit.interval_micros
    });
    let longest = waits.into_iter().max().unwrap_or(0);
    if longest > 0 { Err(longest.div_euclid(Micros::SECOND) + 1) } else { Ok(()) }
}

fn keys(user: &str, address: IpAddr) -> [(Key, RateLimit); 2] {
    // Bounds the memory per key: a name could be as long as a body.
    let user = user.chars().take(255).collect();
    [(Key::User(user, address), USER_LIMIT), (Key::Address(address), ADDRESS_LIMIT)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));

    #[test]
    fn failures_beyond_burst_are_throttled() {
        let limiter = FailureLimiter::default();
        for _ in 0..10 {
            assert_eq!(limiter.begin("u", HERE, Micros(0)), Ok(()));
        }
        let wait = limiter.begin("u", HERE, Micros(0)).unwrap_err();
        assert!((1..=11).contains(&wait), "{wait}");
        assert_eq!(limiter.begin("v", HERE, Micros(0)), Ok(()), "another user");
        assert_eq!(limiter.begin("u", THERE, Micros(0)), Ok(()), "another address");
        assert_eq!(limiter.begin("u", HERE, Micros(wait * Micros::SECOND)), Ok(()));
    }

    #[test]
    fn check_does_not_count() {
        let limiter = FailureLimiter::default();
        for _ in 0..1000 {
            assert_eq!(limiter.check("u", HERE, Micros(0)), Ok(()));
        }
        for _ in 0..10 {
            assert_eq!(limiter.begin("u", HERE, Micros(0)), Ok(()));
        }
        assert!(limiter.check("u", HERE, Micros(0)).is_err());
    }

    #[test]
    fn successes_do_not_count() {
        let limiter = FailureLimiter::default();
        for _ in 0..1000 {
            assert_eq!(limiter.begin("u", HERE, Micros(0)), Ok(()));
            limiter.succeeded("u", HERE);
        }
    }

    #[test]
    fn rejected_attempts_do_not_extend_the_wait() {
        let limiter = FailureLimiter::default();
        let n_tries = 10_000;
        let refused = (0..n_tries)
            .filter(|index| limiter.begin(&format!("u{index}"), HERE, Micros(0)).is_err())
            .count();
        assert!(refused > n_tries / 2);
        let wait = limiter.begin("new", HERE, Micros(0)).unwrap_err();
        assert!(wait <= 3, "rejected attempts must not count: {wait}");
        assert_eq!(limiter.begin("new", THERE, Micros(0)), Ok(()));
    }
}
