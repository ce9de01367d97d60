//! A brake on guessing passwords. Only failures count: real clients log in for every command.
//!
//! Counted are failures of a user from an address, and of an address whatever the user. Not of a user alone: then
//! anybody could lock out everybody.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use stoker_model::Micros;

/// How fast one may fail.
#[derive(Clone, Copy)]
struct Pace {
    /// Failures at once before the brake is felt.
    burst: i64,
    /// After that, one more for each of these.
    interval_micros: i64,
}

const OF_USER: Pace = Pace { burst: 10, interval_micros: 10 * Micros::SECOND };
const OF_ADDRESS: Pace = Pace { burst: 100, interval_micros: Micros::SECOND };
/// Keys remembered before those that no longer matter are swept out.
const KEYS_MAX: usize = 50_000;

/// Counts failed logins.
#[derive(Default)]
pub(crate) struct FailureLimiter {
    /// For each key the time at which its failures will be forgiven.
    forgiven_at: Mutex<HashMap<Key, Micros>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    User(String, IpAddr),
    Address(IpAddr),
}

impl FailureLimiter {
    /// Counts a try as failed before it is made, so that many at once cannot slip through; a try that succeeds is
    /// taken back with [`FailureLimiter::succeeded`]. Or the seconds to wait before another try.
    pub(crate) fn begin(&self, user: &str, address: IpAddr, now: Micros) -> Result<(), i64> {
        let mut forgiven_at = self.forgiven_at.lock().unwrap_or_else(PoisonError::into_inner);
        wait(&forgiven_at, user, address, now)?;
        if forgiven_at.len() >= KEYS_MAX {
            forgiven_at.retain(|_, at| *at > now);
        }
        for (key, pace) in keys(user, address) {
            let at = forgiven_at.entry(key).or_insert(now);
            *at = Micros((*at).max(now).0 + pace.interval_micros);
        }
        Ok(())
    }

    /// The seconds to wait before another try, which is not counted: for secrets that cannot be guessed by trying many at
    /// once, and of which many are shown at once, by machines behind one address. Whoever fails calls
    /// [`FailureLimiter::begin`] afterwards.
    pub(crate) fn check(&self, user: &str, address: IpAddr, now: Micros) -> Result<(), i64> {
        wait(&self.forgiven_at.lock().unwrap_or_else(PoisonError::into_inner), user, address, now)
    }

    pub(crate) fn succeeded(&self, user: &str, address: IpAddr) {
        let mut forgiven_at = self.forgiven_at.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, pace) in keys(user, address) {
            if let Some(at) = forgiven_at.get_mut(&key) {
                at.0 -= pace.interval_micros;
            }
        }
    }
}

fn wait(forgiven_at: &HashMap<Key, Micros>, user: &str, address: IpAddr, now: Micros) -> Result<(), i64> {
    let waits = keys(user, address).map(|(key, pace)| {
        let debt_micros = forgiven_at.get(&key).map_or(0, |at| at.0 - now.0);
        debt_micros - pace.burst * pace.interval_micros + pace.interval_micros
    });
    let longest = waits.into_iter().max().unwrap_or(0);
    if longest > 0 { Err(longest.div_euclid(Micros::SECOND) + 1) } else { Ok(()) }
}

fn keys(user: &str, address: IpAddr) -> [(Key, Pace); 2] {
    // A name as long as a body would fill the memory.
    let user = user.chars().take(255).collect();
    [(Key::User(user, address), OF_USER), (Key::Address(address), OF_ADDRESS)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));

    #[test]
    fn ten_failures_are_free_and_then_one_waits() {
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
    fn to_be_looked_at_costs_nothing() {
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
    fn successes_count_for_nothing() {
        let limiter = FailureLimiter::default();
        for _ in 0..1000 {
            assert_eq!(limiter.begin("u", HERE, Micros(0)), Ok(()));
            limiter.succeeded("u", HERE);
        }
    }

    #[test]
    fn an_address_that_tries_many_names_waits_a_little_however_long_it_tries() {
        let limiter = FailureLimiter::default();
        let n_tries = 10_000;
        let refused = (0..n_tries)
            .filter(|index| limiter.begin(&format!("u{index}"), HERE, Micros(0)).is_err())
            .count();
        assert!(refused > n_tries / 2);
        let wait = limiter.begin("new", HERE, Micros(0)).unwrap_err();
        assert!(wait <= 3, "tries that were refused are not held against anybody: {wait}");
        assert_eq!(limiter.begin("new", THERE, Micros(0)), Ok(()));
    }
}
