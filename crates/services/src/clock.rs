//! The one place of this crate that reads a clock.

use stoker_model::Micros;

/// What time it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock;

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "the shell reads clocks, here")]
    pub fn now(self) -> Micros {
        Micros(jiff::Timestamp::now().as_microsecond())
    }

    /// For durations.
    #[expect(clippy::disallowed_methods, reason = "the shell reads clocks, here")]
    pub fn instant() -> std::time::Instant {
        std::time::Instant::now()
    }
}

/// `2026-01-31T07:00:00.123456`, UTC without a zone, as the predecessor writes times.
pub fn plain(at: Micros) -> String {
    timestamp(at).strftime("%Y-%m-%dT%H:%M:%S%.6f").to_string()
}

/// `2026-01-31T07:00:00.000000Z`, as Keystone writes them.
pub fn zoned(at: Micros) -> String {
    timestamp(at).strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

/// The same without a fraction, for clients that know no other form.
pub fn whole_seconds(at: Micros) -> String {
    timestamp(at).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// `2026-01-31T07:00:00`, as the module API writes times.
pub fn seconds(at: Micros) -> String {
    timestamp(at).strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

/// `2026-01-31 07:00:00.123456`, as it writes those of results.
pub fn spaced(at: Micros) -> String {
    timestamp(at).strftime("%Y-%m-%d %H:%M:%S%.6f").to_string()
}

fn timestamp(at: Micros) -> jiff::Timestamp {
    jiff::Timestamp::from_microsecond(at.0).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_clients_read_them() {
        let at = Micros(1_769_842_800_123_456);
        assert_eq!(plain(at), "2026-01-31T07:00:00.123456");
        assert_eq!(zoned(at), "2026-01-31T07:00:00.123456Z");
        assert_eq!(whole_seconds(at), "2026-01-31T07:00:00Z");
        assert_eq!(seconds(at), "2026-01-31T07:00:00");
        assert_eq!(spaced(at), "2026-01-31 07:00:00.123456");
    }
}
