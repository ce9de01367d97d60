//! Clocks that should agree.

use stoker_yaql::Host as _;

use super::finding::Finding;
use crate::host::SystemHost;

pub(super) const SECOND: i64 = 1_000_000;
/// Leases and tokens bear so much, and not more.
const WARNING: i64 = 2 * SECOND;
const PROBLEM: i64 = 10 * SECOND;

pub(super) fn now_micros() -> i64 {
    SystemHost::new(None).now_micros()
}

/// What it means that another clock shows this time, by a clock that may round to `grain` micros.
pub(super) fn compare(check: &'static str, whose: &str, theirs: i64, grain: i64) -> Finding {
    let off = theirs - now_micros();
    let seconds = off as f64 / SECOND as f64;
    let help = "have both kept by NTP (chrony, systemd-timesyncd)";
    let told = format!(
        "the clock of {whose} is {:.1} s {}",
        seconds.abs(),
        if off < 0 { "behind" } else { "ahead" }
    );
    match off.abs() - grain {
        n if n > PROBLEM => {
            Finding::problem(check, format!("{told}: leases of runs and tokens go wrong"), help)
        }
        n if n > WARNING => Finding::warning(check, told, help),
        _ => Finding::ok(check, format!("the clock of {whose} agrees")),
    }
}

/// The date of an answer (`Sun, 06 Nov 1994 08:49:37 GMT`) in micros.
pub(super) fn of_http(date: &str) -> Option<i64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = date.split_once(", ")?.1.split(' ');
    let day: i64 = words.next()?.parse().ok()?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? as i64 + 1;
    let year: i64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    Some((((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * SECOND)
}

/// Days since 1970, by the Gregorian calendar.
pub(super) fn days(year: i64, month: i64, day: i64) -> i64 {
    // A year that begins in March has its leap day at the end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    #[test]
    fn dates_of_answers_are_understood() {
        assert_eq!(of_http("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777 * SECOND));
        assert_eq!(of_http("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(of_http("Thu, 29 Feb 2024 12:00:00 GMT"), Some(1_709_208_000 * SECOND));
        for wrong in ["", "yesterday", "Sun, 06 Nov", "Sun, 06 Foo 1994 08:49:37 GMT"] {
            assert_eq!(of_http(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_difference_is_judged_by_its_size() {
        for (seconds, level) in
            [(0, Level::Ok), (5, Level::Warning), (-5, Level::Warning), (60, Level::Problem)]
        {
            let found = compare("clock", "it", now_micros() + seconds * SECOND, 0);
            assert_eq!(found.level, level, "{found:?}");
        }
    }
}
