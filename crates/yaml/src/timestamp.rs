//! Dates and times of YAML 1.1, parsed but not converted: the caller handles time zones.

use std::sync::Arc;

/// A date, or a date with a time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Timestamp {
    /// The source text.
    pub text: Arc<str>,
    pub date: Date,
    pub time: Option<Time>,
}

/// A day of the proleptic Gregorian calendar, years 1 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Date {
    pub year: u16,
    pub month: u8,
    pub day: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Time {
    pub hour: u8,
    pub minute: u8,
    pub second: u8,
    pub microsecond: u32,
    /// Offset from UTC, positive to the east; `None` if the text has no zone.
    pub offset_minutes: Option<i16>,
}

/// The numbers of a timestamp, before validation.
struct Fields {
    date: [u32; 3],
    time: Option<[u32; 3]>,
    microsecond: u32,
    offset_minutes: Option<i32>,
}

impl Timestamp {
    /// Parses a timestamp. The error describes the invalid field.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let fields = Fields::parse(text).ok_or("expected `YYYY-MM-DD` or `YYYY-MM-DD hh:mm:ss`")?;
        let [year, month, day] = fields.date;
        if year == 0 {
            return Err("years start at 1");
        }
        if !(1..=12).contains(&month) {
            return Err("there is no such month");
        }
        if day == 0 || day > days_in_month(year, month) {
            return Err("there is no such day");
        }
        let date = Date { year: year as u16, month: month as u8, day: day as u8 };
        Ok(Self { text: text.into(), date, time: fields.checked_time()? })
    }
}

/// Reports whether plain text has the form of a timestamp. One-digit months and days are allowed only with a
/// time.
pub(crate) fn is_timestamp(text: &str) -> bool {
    Fields::parse(text).is_some_and(|fields| fields.time.is_some() || text.len() == "YYYY-MM-DD".len())
}

impl Fields {
    fn parse(text: &str) -> Option<Self> {
        let mut cursor = Cursor(text.as_bytes());
        let year = cursor.digits(4, 4)?;
        cursor.one_of(b"-")?;
        let month = cursor.digits(1, 2)?;
        cursor.one_of(b"-")?;
        let date = [year, month, cursor.digits(1, 2)?];
        let mut fields = Self { date, time: None, microsecond: 0, offset_minutes: None };
        if cursor.0.is_empty() {
            return Some(fields);
        }
        if cursor.one_of(b"Tt").is_none() && !cursor.blanks() {
            return None;
        }
        let hour = cursor.digits(1, 2)?;
        cursor.one_of(b":")?;
        let minute = cursor.digits(2, 2)?;
        cursor.one_of(b":")?;
        fields.time = Some([hour, minute, cursor.digits(2, 2)?]);
        if cursor.one_of(b".").is_some() {
            fields.microsecond = cursor.fraction();
        }
        if !cursor.0.is_empty() {
            cursor.blanks();
            fields.offset_minutes = Some(cursor.offset_minutes()?);
        }
        cursor.0.is_empty().then_some(fields)
    }

    fn checked_time(&self) -> Result<Option<Time>, &'static str> {
        let Some([hour, minute, second]) = self.time else { return Ok(None) };
        if hour > 23 || minute > 59 || second > 59 {
            return Err("there is no such time of day");
        }
        if self.offset_minutes.is_some_and(|offset| offset.abs() >= 24 * 60) {
            return Err("the UTC offset must be less than 24 hours");
        }
        Ok(Some(Time {
            hour: hour as u8,
            minute: minute as u8,
            second: second as u8,
            microsecond: self.microsecond,
            offset_minutes: self.offset_minutes.map(|offset| offset as i16),
        }))
    }
}

fn days_in_month(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

struct Cursor<'t>(&'t [u8]);

impl Cursor<'_> {
    /// Reads between `min` and `max` digits, at most nine.
    fn digits(&mut self, min: usize, max: usize) -> Option<u32> {
        let n_digits = self.0.iter().take(max).take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at_checked(n_digits).filter(|_| n_digits >= min)?;
        self.0 = rest;
        Some(digits.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0')))
    }

    fn one_of(&mut self, accepted: &[u8]) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        accepted.contains(first).then(|| {
            self.0 = rest;
            *first
        })
    }

    fn blanks(&mut self) -> bool {
        let mut skipped = false;
        while self.one_of(b" \t").is_some() {
            skipped = true;
        }
        skipped
    }

    /// Reads a fraction in microseconds, truncating further digits.
    fn fraction(&mut self) -> u32 {
        let mut microsecond = 0;
        let mut weight = 100_000;
        while let Some(digit) = self.one_of(b"0123456789") {
            microsecond += u32::from(digit - b'0') * weight;
            weight /= 10;
        }
        microsecond
    }

    fn offset_minutes(&mut self) -> Option<i32> {
        let sign = match self.one_of(b"Z+-")? {
            b'Z' => return Some(0),
            b'-' => -1,
            _ => 1,
        };
        let hours = self.digits(1, 2)? as i32;
        let minutes = if self.one_of(b":").is_some() { self.digits(2, 2)? as i32 } else { 0 };
        Some(sign * (hours * 60 + minutes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let result = match Timestamp::parse(text) {
            Err(reason) => reason.to_owned(),
            Ok(Timestamp { date: Date { year, month, day }, time: None, .. }) => {
                format!("{year}-{month}-{day}")
            }
            Ok(Timestamp { date: Date { year, month, day }, time: Some(time), .. }) => {
                let Time { hour, minute, second, microsecond, offset_minutes } = time;
                format!("{year}-{month}-{day} {hour}:{minute}:{second} {microsecond} {offset_minutes:?}")
            }
        };
        assert_eq!(result, expected, "{text}");
    }

    #[test]
    fn timestamps() {
        check("2016-01-31", "2016-1-31");
        check("2016-02-29", "2016-2-29");
        check("2015-02-29", "there is no such day");
        check("1900-02-29", "there is no such day");
        check("2016-13-01", "there is no such month");
        check("0000-01-01", "years start at 1");
        check("2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43 100000 Some(-300)");
        check("2001-12-14 21:59:43.10 -5", "2001-12-14 21:59:43 100000 Some(-300)");
        check("2001-12-15 2:59:43.1234567", "2001-12-15 2:59:43 123456 None");
        check("2001-1-5T02:59:43Z", "2001-1-5 2:59:43 0 Some(0)");
        check("2001-1-5 02:59:43. Z", "2001-1-5 2:59:43 0 Some(0)");
        check("2001-1-5 24:00:00", "there is no such time of day");
        check("2001-1-5 02:59:43+24:00", "the UTC offset must be less than 24 hours");
    }

    #[test]
    fn form() {
        for text in ["2016-01-31", "2016-1-1 0:00:00", "2016-13-41", "2016-01-01\t1:00:00+1:30"] {
            assert!(is_timestamp(text), "{text}");
        }
        for text in
            ["2016-1-31", "2016-01-31x", "2016-01-31 ", "16-01-31", "2016-01-31T", "2016-01-31 1:00", ""]
        {
            assert!(!is_timestamp(text), "{text}");
        }
    }
}
