//! Times and durations of runs.

/// Parses `2026-01-31T07:00:00.123456` to Unix time in seconds.
pub(crate) fn unix_time(text: &str) -> Option<f64> {
    let (date, time) = text.trim_end_matches('Z').split_once('T')?;
    let numbers = |text: &str, separator: char| -> Option<Vec<f64>> {
        text.split(separator).map(|part| part.parse::<f64>().ok()).collect()
    };
    let [year, month, day] = numbers(date, '-')?[..] else { return None };
    let [hours, minutes, seconds] = numbers(time, ':')?[..] else { return None };
    // Civil calendar: years start in March, so that leap days come last.
    let (shifted_year, shifted_month) =
        if month > 2.0 { (year, month - 3.0) } else { (year - 1.0, month + 9.0) };
    let leap_days =
        (shifted_year / 4.0).floor() - (shifted_year / 100.0).floor() + (shifted_year / 400.0).floor();
    let month_days = ((153.0 * shifted_month + 2.0) / 5.0).floor();
    let days = shifted_year * 365.0 + leap_days + month_days + day - 1.0 - 719_468.0;
    Some(days * 86_400.0 + hours * 3600.0 + minutes * 60.0 + seconds)
}

/// Formats a duration as `850 ms`, `4.2 s`, `3 min 20 s` or `2 h 5 min`.
pub(crate) fn duration(seconds: f64) -> String {
    let seconds = seconds.max(0.0);
    let whole = seconds.round() as u64;
    match whole {
        _ if seconds < 1.0 => format!("{} ms", (seconds * 1000.0).round()),
        _ if seconds < 10.0 => format!("{seconds:.1} s"),
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unix_time_parses_timestamps() {
        assert_eq!(unix_time("1970-01-01T00:00:00"), Some(0.0));
        assert_eq!(unix_time("2026-01-31T07:00:01.500000"), Some(1_769_842_801.5));
        assert_eq!(unix_time("2024-03-01T00:00:00Z"), Some(1_709_251_200.0));
        for invalid in ["", "2026-01-31", "x", "2026-01T1:2:3", "2026-01-31T1:2"] {
            assert_eq!(unix_time(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn durations_are_formatted() {
        let cases = [
            (-1.0, "0 ms"),
            (0.0125, "13 ms"),
            (4.21, "4.2 s"),
            (59.4, "59 s"),
            (200.0, "3 min 20 s"),
            (7500.0, "2 h 5 min"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(duration(seconds), expected);
        }
    }
}
