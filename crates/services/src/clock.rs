//! Wall clock and time formats. The only module of this crate that reads a clock.

use stoker_model::Micros;

/// The wall clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock;

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "the shell reads clocks, here")]
    pub fn now(self) -> Micros {
        Micros(jiff::Timestamp::now().as_microsecond())
    }

    /// Returns the monotonic time, for durations.
    #[expect(clippy::disallowed_methods, reason = "the shell reads clocks, here")]
    pub fn instant() -> std::time::Instant {
        std::time::Instant::now()
    }
}

/// Formats a time as `2026-01-31T07:00:00.123456`: UTC without a zone, the format of the Fuel API.
pub fn plain(at: Micros) -> String {
    timestamp(at).strftime("%Y-%m-%dT%H:%M:%S%.6f").to_string()
}

/// Formats a time as `2026-01-31T07:00:00.000000Z`, the format of the Keystone API.
pub fn zoned(at: Micros) -> String {
    timestamp(at).strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

/// Formats a time as RFC 3339 with whole seconds, for clients that do not parse fractions.
pub fn whole_seconds(at: Micros) -> String {
    timestamp(at).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Formats a time as `2026-01-31T07:00:00`, the format of the module API.
pub fn seconds(at: Micros) -> String {
    timestamp(at).strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

/// Formats a time as `2026-01-31 07:00:00.123456`, the format of module results.
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
    fn each_client_format_is_produced() {
        let at = Micros(1_769_842_800_123_456);
        assert_eq!(plain(at), "2026-01-31T07:00:00.123456");
        assert_eq!(zoned(at), "2026-01-31T07:00:00.123456Z");
        assert_eq!(whole_seconds(at), "2026-01-31T07:00:00Z");
        assert_eq!(seconds(at), "2026-01-31T07:00:00");
        assert_eq!(spaced(at), "2026-01-31 07:00:00.123456");
    }
}
