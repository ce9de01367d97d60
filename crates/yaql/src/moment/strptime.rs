//! Parses datetimes by a format: Python's `strptime`.

use jiff::civil::Date;

use crate::error::{Error, Result};

use super::chars::{parse_int, quoted};
use super::datetime::{DateTime, checked_date, date_of_ordinal, ordinal};
use super::strftime::{MONTHS, WEEKDAYS};
use super::template::Template;
use super::timespan::TimeSpan;
use super::zone::{Label, Zone};

impl DateTime {
    pub fn strptime(text: &str, format: &str) -> Result<Self> {
        let template = Template::new(format)?;
        let chars: Vec<char> = text.chars().collect();
        let Some((groups, end)) = template.matches(&chars) else {
            let message = format!("time data {} does not match format {}", quoted(text), quoted(format));
            return Err(Error::value(message).into());
        };
        if end < chars.len() {
            let rest: String = chars[end..].iter().collect();
            return Err(Error::value(format!("unconverted data remains: {rest}")).into());
        }
        let mut fields = ParsedFields { month: 1, day: 1, ..ParsedFields::default() };
        let afternoon = groups.iter().find(|(c, _)| *c == 'p').map(|(_, text)| text.to_lowercase() == "pm");
        for (directive, text) in &groups {
            fields.take(*directive, text, afternoon.unwrap_or(false))?;
        }
        fields.build()
    }
}

/// Parsed values of the directives, with the defaults of Python for absent directives.
#[derive(Default)]
struct ParsedFields {
    year: Option<i128>,
    iso_year: Option<i128>,
    iso_week: Option<i128>,
    /// Week of the year, and whether weeks start on Monday.
    week: Option<(i128, bool)>,
    /// Weekday; Monday is 0.
    weekday: Option<i128>,
    /// Day of the year, counted from 1.
    year_day: Option<i128>,
    month: i128,
    day: i128,
    clock: [i128; 4],
    offset: Option<i128>,
    zone_name: Option<Label>,
}

impl ParsedFields {
    fn take(&mut self, directive: char, text: &str, afternoon: bool) -> Result<()> {
        let number = parse_int(text.trim_start()).unwrap_or(0);
        match directive {
            'y' => self.year = Some(number + if number <= 68 { 2000 } else { 1900 }),
            'Y' => self.year = Some(number),
            'G' => self.iso_year = Some(number),
            'm' => self.month = number,
            'B' => self.month = index(text, &MONTHS, usize::MAX)? + 1,
            'b' => self.month = index(text, &MONTHS, 3)? + 1,
            'd' => self.day = number,
            'H' => self.clock[0] = number,
            'I' => self.clock[0] = number % 12 + if afternoon { 12 } else { 0 },
            'M' => self.clock[1] = number,
            'S' => self.clock[2] = number,
            'f' => self.clock[3] = fraction(text),
            'A' => self.weekday = Some(index(text, &WEEKDAYS, usize::MAX)?),
            'a' => self.weekday = Some(index(text, &WEEKDAYS, 3)?),
            'w' => self.weekday = Some((number + 6) % 7),
            'u' => self.weekday = Some(number - 1),
            'j' => self.year_day = Some(number),
            'U' => self.week = Some((number, false)),
            'W' => self.week = Some((number, true)),
            'V' => self.iso_week = Some(number),
            'z' => self.offset = Some(parse_offset(text)?),
            'Z' => self.zone_name = Label::new(text),
            _ => {}
        }
        Ok(())
    }

    fn build(mut self) -> Result<DateTime> {
        self.check_weeks()?;
        // As in Python, February 29 without a year is validated against a leap year and then rejected
        // for 1900.
        let leap_day = self.year.is_none() && self.month == 2 && self.day == 29;
        let year = self.year.unwrap_or(if leap_day { 1904 } else { 1900 });
        let date = match self.day_of_year(year)? {
            Some((year, day)) => {
                let first = ordinal(checked_date(year, 1, 1)?);
                date_of_ordinal(first + day - 1).ok_or_else(|| {
                    let message = if day < 1 { "ordinal must be >= 1" } else { "year 10000 is out of range" };
                    Error::value(message)
                })?
            }
            None => checked_date(year, self.month, self.day)?,
        };
        let year = if leap_day { 1900 } else { i128::from(date.year()) };
        let zone = match self.offset {
            Some(offset) => Zone::fixed(TimeSpan::from_micros(offset)?, self.zone_name)?,
            None => Zone::Utc,
        };
        let [hour, minute, second, micro] = self.clock;
        let (month, day) = (i128::from(date.month()), i128::from(date.day()));
        DateTime::from_fields([year, month, day, hour, minute, second, micro], zone)
    }

    fn check_weeks(&self) -> Result<()> {
        let weekdays = "and a weekday directive ('%A', '%a', '%w', or '%u').";
        let message = if self.year.is_none() && self.iso_year.is_some() {
            if self.iso_week.is_none() || self.weekday.is_none() {
                format!("ISO year directive '%G' must be used with the ISO week directive '%V' {weekdays}")
            } else if self.year_day.is_some() {
                "Day of the year directive '%j' is not compatible with ISO year directive '%G'. \
                 Use '%Y' instead."
                    .to_owned()
            } else {
                return Ok(());
            }
        } else if self.week.is_some() || self.iso_week.is_none() {
            return Ok(());
        } else if self.weekday.is_none() {
            format!("ISO week directive '%V' must be used with the ISO year directive '%G' {weekdays}")
        } else {
            "ISO week directive '%V' is incompatible with the year directive '%Y'. \
             Use the ISO year '%G' instead."
                .to_owned()
        };
        Err(Error::value(message).into())
    }

    /// Returns the year and the day of the year, if `%j` or a week and weekday determine them.
    fn day_of_year(&mut self, year: i128) -> Result<Option<(i128, i128)>> {
        if let Some(day) = self.year_day {
            return Ok(Some((year, day)));
        }
        let Some(weekday) = self.weekday else { return Ok(None) };
        let (mut year, mut day) = match (self.week, self.iso_year, self.iso_week) {
            (Some((week, monday)), _, _) => {
                let first = checked_date(year, 1, 1)?;
                (year, day_of_week(first, week, weekday, monday))
            }
            (None, Some(year), Some(week)) => day_of_iso_week(year, week, weekday)?,
            _ => return Ok(None),
        };
        if day <= 0 {
            year -= 1;
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            day += if leap { 366 } else { 365 };
        }
        Ok(Some((year, day)))
    }
}

fn day_of_week(first: Date, week: i128, weekday: i128, monday: bool) -> i128 {
    let shift = i128::from(!monday);
    let first = (i128::from(first.weekday().to_monday_zero_offset()) + shift) % 7;
    let weekday = (weekday + shift) % 7;
    if week == 0 {
        return 1 + weekday - first;
    }
    1 + (7 - first) % 7 + 7 * (week - 1) + weekday
}

fn day_of_iso_week(year: i128, week: i128, weekday: i128) -> Result<(i128, i128)> {
    let fourth = checked_date(year, 1, 4)?;
    let correction = i128::from(fourth.weekday().to_monday_one_offset()) + 3;
    let day = week * 7 + weekday + 1 - correction;
    if day >= 1 {
        return Ok((year, day));
    }
    let length = ordinal(checked_date(year, 1, 1)?) - ordinal(checked_date(year - 1, 1, 1)?);
    Ok((year - 1, day + length))
}

/// Returns the index of a name, ignoring case. Characters such as the long s match the pattern of the
/// directive but are not found here, as in Python.
fn index(text: &str, names: &[&str], letters: usize) -> Result<i128> {
    let lower = text.to_lowercase();
    let position = names.iter().position(|name| name[..name.len().min(letters)].eq_ignore_ascii_case(&lower));
    position
        .map(|index| index as i128)
        .ok_or_else(|| Error::value(format!("{} is not in list", quoted(&lower))).into())
}

/// Converts the digits of a fraction to microseconds.
fn fraction(digits: &str) -> i128 {
    let missing = 6_usize.saturating_sub(digits.chars().count());
    parse_int(digits).unwrap_or(0) * 10_i128.pow(missing as u32)
}

/// Parses an offset matched by `%z`, in microseconds.
fn parse_offset(text: &str) -> Result<i128> {
    let mut chars: Vec<char> = text.chars().collect();
    if text == "Z" {
        return Ok(0);
    }
    if chars.get(3) == Some(&':') {
        chars.remove(3);
        if chars.len() > 5 {
            if chars[5] != ':' {
                return Err(Error::value(format!("Inconsistent use of : in {text}")).into());
            }
            chars.remove(5);
        }
    }
    let part = |from: usize, to: usize| -> String { chars.iter().take(to).skip(from).collect() };
    let number = |text: String| {
        parse_int(&text).ok_or_else(|| {
            let message = format!("invalid literal for int() with base 10: {}", quoted(&text));
            Error::value(message)
        })
    };
    let second = if chars.len() > 5 { number(part(5, 7))? } else { 0 };
    let seconds = number(part(1, 3))? * 3600 + number(part(3, 5))? * 60 + second;
    let micros = seconds * 1_000_000 + fraction(&part(8, 14));
    Ok(if text.starts_with('-') { -micros } else { micros })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(text: &str, format: &str) -> String {
        DateTime::strptime(text, format)
            .and_then(|moment| moment.isoformat())
            .unwrap_or_else(|error| error.message)
    }

    #[test]
    fn formats() {
        let cases = [
            ("04/03/17", "%d/%m/%y", "2017-03-04T00:00:00+00:00"),
            ("04/03/2017 +0300", "%d/%m/%Y %z", "2017-03-04T00:00:00+03:00"),
            ("Sat 04 Mar 2017 09:08 PM", "%a %d %b %Y %I:%M %p", "2017-03-04T21:08:00+00:00"),
            ("sat MAR  4 05:06:07 2017", "%c", "2017-03-04T05:06:07+00:00"),
            ("1.5", "%S.%f", "1900-01-01T00:00:01.500000+00:00"),
            ("2017 9 6", "%G %V %u", "2017-03-04T00:00:00+00:00"),
            ("2017 63", "%Y %j", "2017-03-04T00:00:00+00:00"),
            ("2017 9 6", "%Y %U %w", "2017-03-04T00:00:00+00:00"),
            ("2017 0 sun", "%Y %W %a", "2017-01-01T00:00:00+00:00"),
            ("-05:30:15.5", "%z", "1900-01-01T00:00:00-05:30:15.500000"),
            ("123", "%H%M", "1900-01-01T12:03:00+00:00"),
            ("İ", "i", "1900-01-01T00:00:00+00:00"),
            ("x", "%d", "time data 'x' does not match format '%d'"),
            ("2017 x", "%Y", "unconverted data remains:  x"),
            ("29 2", "%d %m", "day is out of range for month"),
            ("61", "%S", "second must be in 0..59"),
            ("9999 366", "%Y %j", "year 10000 is out of range"),
            ("ſat", "%a", "'ſat' is not in list"),
            ("x", "%q", "'q' is a bad directive in format '%q'"),
            ("x", "% d", "'%' is a bad directive in format '% d'"),
            ("x", "a%", "stray % in format 'a%'"),
            ("x", "%d %d", "redefinition of group name 'd' as group 2; was group 1 at position 48"),
            ("x", "%c %d", "redefinition of group name 'd' as group 8; was group 3 at position 230"),
            ("+03:0030", "%z", "Inconsistent use of : in +03:0030"),
            ("+0300:30", "%z", "invalid literal for int() with base 10: ':3'"),
        ];
        for (text, format, expected) in cases {
            assert_eq!(outcome(text, format), expected, "{text} {format}");
        }
    }

    #[test]
    fn zones() {
        let repr = |text, format| DateTime::strptime(text, format).expect("a date").to_repr();
        let cases = [
            ("+0300", "%z", "datetime.timezone(datetime.timedelta(seconds=10800))"),
            ("+0000", "%z", "datetime.timezone.utc"),
            ("+0000 uTc", "%z %Z", "datetime.timezone(datetime.timedelta(0), 'uTc')"),
            ("utc", "%Z", "tzutc()"),
        ];
        for (text, format, zone) in cases {
            assert_eq!(repr(text, format), format!("datetime.datetime(1900, 1, 1, 0, 0, tzinfo={zone})"));
        }
    }
}
