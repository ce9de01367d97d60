//! Expiry of accounts.

use crate::outcome::Failure;

/// First day on which an account cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expiry {
    /// Days since 1970-01-01, as in `/etc/shadow`; empty for never.
    pub(super) days: String,
    /// As `usermod` expects it; empty for never.
    pub(super) date: String,
}

impl Expiry {
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        if text == "never" {
            return Ok(Self { days: String::new(), date: String::new() });
        }
        let days = days(text).ok_or_else(|| {
            Failure::refused(format!(
                "`expires` must be a day from 1970 to 9999 such as `2027-01-31`, or `never`: `{text}`"
            ))
        })?;
        Ok(Self { days: days.to_string(), date: text.to_owned() })
    }
}

/// Returns the number of days from 1970-01-01 to a date of the Gregorian calendar.
fn days(date: &str) -> Option<u32> {
    let parts: Vec<&str> = date.split('-').collect();
    let &[year, month, day] = parts.as_slice() else { return None };
    let number = |text: &str, len: usize| (text.len() == len).then(|| text.parse::<u32>().ok()).flatten();
    let (year, month, day) = (number(year, 4)?, number(month, 2)?, number(day, 2)?);
    let is_leap =
        |year: u32| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let february = if is_leap(year) { 29 } else { 28 };
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = lengths.get(month.checked_sub(1)? as usize)?;
    if year < 1970 || day == 0 || day > *length {
        return None;
    }
    let of_years: u32 = (1970..year).map(|year| if is_leap(year) { 366 } else { 365 }).sum();
    let of_months: u32 = lengths[..month as usize - 1].iter().sum();
    Some(of_years + of_months + day - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_converted_to_days() {
        for (date, expected) in [
            ("1970-01-01", Some(0)),
            ("1970-01-02", Some(1)),
            ("2000-02-29", Some(11_016)),
            ("2000-03-01", Some(11_017)),
            ("2027-01-31", Some(20_849)),
            ("1900-02-28", None),
            ("2027-02-29", None),
            ("2027-13-01", None),
            ("2027-00-01", None),
            ("2027-1-1", None),
            ("soon", None),
        ] {
            assert_eq!(days(date), expected, "{date}");
        }
    }
}
