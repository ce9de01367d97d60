//! Rate limiter for failed logins. Only failures are counted, because real clients log in for every command.
//!
//! Failures are counted per user and address, and per address, but not per user alone: otherwise any client
//! could lock out any user.

use std::net::IpAddr;

use stoker_model::Micros;

use crate::rate_limiter::{RateLimit, RateLimiter};

const USER_LIMIT: RateLimit = RateLimit { burst: 10, interval_micros: 10 * Micros::SECOND };
const ADDRESS_LIMIT: RateLimit = RateLimit { burst: 100, interval_micros: Micros::SECOND };

/// Rate limiter for failed logins.
#[derive(Default)]
pub(crate) struct FailureLimiter(RateLimiter<Key>);

#[derive(PartialEq, Eq, Hash)]
enum Key {
    User(String, IpAddr),
    Address(IpAddr),
}

impl FailureLimiter {
    /// Counts an attempt as failed before it is made, so that concurrent attempts cannot bypass the limit;
    /// [`FailureLimiter::succeeded`] reverts this. The error is the number of seconds until the next attempt
    /// is allowed.
    pub(crate) fn begin(&self, user: &str, address: IpAddr, now: Micros) -> Result<(), i64> {
        self.0.take(keys(user, address), now)
    }

    /// Checks the limit without counting an attempt. For secrets that cannot be guessed by brute force and
    /// that many machines behind one address may present at the same time. Callers count a failure with
    /// [`FailureLimiter::begin`] afterwards.
    pub(crate) fn check(&self, user: &str, address: IpAddr, now: Micros) -> Result<(), i64> {
        self.0.check(&keys(user, address), now)
    }

    pub(crate) fn succeeded(&self, user: &str, address: IpAddr) {
        self.0.refund(&keys(user, address));
    }
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
