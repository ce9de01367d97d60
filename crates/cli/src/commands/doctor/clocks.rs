//! Comparison of clocks.

use stoker_yaql::Host as _;

use super::check_result::CheckResult;
use crate::host::SystemHost;

pub(super) const SECOND_MICROS: i64 = 1_000_000;
/// Clock offset from which a warning is reported, in microseconds. Leases and tokens tolerate 2 s; at 10 s
/// they fail.
const WARNING_OFFSET: i64 = 2 * SECOND_MICROS;
const PROBLEM_OFFSET: i64 = 10 * SECOND_MICROS;

pub(super) fn now_micros() -> i64 {
    SystemHost::new(None).now_micros()
}

/// Compares the clock of another machine, which is rounded to `grain` microseconds.
pub(super) fn compare(check: &'static str, whose: &str, remote_micros: i64, grain: i64) -> CheckResult {
    let offset = remote_micros - now_micros();
    let seconds = offset as f64 / SECOND_MICROS as f64;
    let help = "synchronize both with NTP (chrony, systemd-timesyncd)";
    let message = format!(
        "the clock of {whose} is {:.1} s {}",
        seconds.abs(),
        if offset < 0 { "behind" } else { "ahead" }
    );
    match offset.abs() - grain {
        n if n > PROBLEM_OFFSET => {
            CheckResult::problem(check, format!("{message}: run leases and tokens fail"), help)
        }
        n if n > WARNING_OFFSET => CheckResult::warning(check, message, help),
        _ => CheckResult::ok(check, format!("the clock of {whose} is synchronized")),
    }
}

/// Parses an HTTP date (`Sun, 06 Nov 1994 08:49:37 GMT`) to microseconds since 1970.
pub(super) fn parse_http_date(date: &str) -> Option<i64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut fields = date.split_once(", ")?.1.split(' ');
    let day: i64 = fields.next()?.parse().ok()?;
    let month = fields.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? as i64 + 1;
    let year: i64 = fields.next()?.parse().ok()?;
    let mut clock = fields.next()?.split(':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    Some((((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * SECOND_MICROS)
}

/// Days since 1970 in the Gregorian calendar.
pub(super) fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years start in March, so that the leap day comes last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::super::check_result::Level;
    use super::*;

    #[test]
    fn http_dates_are_parsed() {
        assert_eq!(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777 * SECOND_MICROS));
        assert_eq!(parse_http_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(parse_http_date("Thu, 29 Feb 2024 12:00:00 GMT"), Some(1_709_208_000 * SECOND_MICROS));
        for invalid in ["", "yesterday", "Sun, 06 Nov", "Sun, 06 Foo 1994 08:49:37 GMT"] {
            assert_eq!(parse_http_date(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn level_depends_on_the_clock_offset() {
        for (seconds, level) in
            [(0, Level::Ok), (5, Level::Warning), (-5, Level::Warning), (60, Level::Problem)]
        {
            let finding = compare("clock", "it", now_micros() + seconds * SECOND_MICROS, 0);
            assert_eq!(finding.level, level, "{finding:?}");
        }
    }
}
