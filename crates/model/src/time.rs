//! Timestamps as stored.

/// Microseconds since the Unix epoch, in UTC. The core never reads a clock: timestamps are arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Micros(pub i64);

impl Micros {
    pub const SECOND: i64 = 1_000_000;

    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(Self::SECOND)))
    }
}
