//! Parses the ISO format like `datetime.fromisoformat`: more than `isoformat` prints, but not all of ISO
//! 8601.

use jiff::civil::{ISOWeekDate, Weekday};

use crate::error::{Error, Result};

use super::chars::quoted;
use super::datetime::DateTime;
use super::timespan::TimeSpan;
use super::zone::Zone;

impl DateTime {
    /// Parses the ISO format. Text without an offset yields a naive datetime.
    pub fn from_isoformat(text: &str) -> Result<Self> {
        let invalid = || Error::value(format!("Invalid isoformat string: {}", quoted(text)));
        let (date, clock) = split(text).ok_or_else(invalid)?;
        let [year, month, day] = parse_date(date).ok_or_else(invalid)?;
        let (clock, zone) = match clock {
            Some(clock) => parse_clock(clock).ok_or_else(invalid)?,
            None => ([0; 4], None),
        };
        let zone = match zone {
            Some(offset) => Zone::fixed(TimeSpan::from_micros(offset)?, None)?,
            None => Zone::Naive,
        };
        let [hour, minute, second, micro] = clock;
        Self::from_fields([year, month, day, hour, minute, second, micro], zone)
    }
}

/// Splits text into the date and, after a one-character separator, the time.
fn split(text: &str) -> Option<(&[u8], Option<&[u8]>)> {
    let bytes = text.as_bytes();
    let at = separator(bytes)?;
    let date = bytes.get(..at)?;
    // Any character may be the separator. A date that ends inside a multi-byte character is invalid.
    let separator = text.get(at..)?.chars().next();
    Some((date, separator.map(|c| &bytes[at + c.len_utf8()..])))
}

/// Returns the end of the date. Week dates are ambiguous because any character may separate date and time.
fn separator(text: &[u8]) -> Option<usize> {
    let len = text.len();
    let digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    match (text.get(4)?, text.get(5)?) {
        _ if len < 7 => None,
        _ if len == 7 => Some(7),
        (b'-', b'W') if text.get(8) != Some(&b'-') => Some(8),
        (b'-', b'W') if len == 9 => None,
        (b'-', b'W') if len > 10 && digit(10) => Some(8),
        (b'-', _) => Some(10),
        (b'W', _) => {
            let end = (7..len).find(|&at| !digit(at)).unwrap_or(len);
            // Time fields have two digits each, so an even count means that there is no weekday digit.
            if end < 9 { Some(end) } else { Some(if end % 2 == 0 { 7 } else { 8 }) }
        }
        _ => Some(8),
    }
}

fn number(text: &[u8]) -> Option<i128> {
    let digits = text.iter().all(u8::is_ascii_digit) && !text.is_empty();
    digits.then(|| text.iter().fold(0, |value, digit| value * 10 + i128::from(digit - b'0')))
}

fn parse_date(text: &[u8]) -> Option<[i128; 3]> {
    let year = number(text.get(..4)?)?;
    let dashes = text.get(4) == Some(&b'-');
    let rest = &text[4 + usize::from(dashes)..];
    if let Some(week) = rest.strip_prefix(b"W") {
        return parse_week(year, week, dashes);
    }
    let month = number(rest.get(..2)?)?;
    let rest = after_dash(&rest[2..], dashes)?;
    let day = number(rest.get(..2)?)?;
    Some([year, month, day])
}

fn after_dash(text: &[u8], dashes: bool) -> Option<&[u8]> {
    if dashes { text.strip_prefix(b"-") } else { Some(text) }
}

fn parse_week(year: i128, text: &[u8], dashes: bool) -> Option<[i128; 3]> {
    let week = number(text.get(..2)?)?;
    let day = match &text[2..] {
        [] => 1,
        rest => number(after_dash(rest, dashes)?.get(..1)?)?,
    };
    let weekday = Weekday::from_monday_one_offset(i8::try_from(day).ok()?).ok()?;
    let year = i16::try_from(year).ok().filter(|&year| year >= 1)?;
    let date = ISOWeekDate::new(year, i8::try_from(week).ok()?, weekday).ok()?.date();
    Some([i128::from(date.year()), i128::from(date.month()), i128::from(date.day())])
}

/// Parses the time and the offset in microseconds.
fn parse_clock(text: &[u8]) -> Option<([i128; 4], Option<i128>)> {
    let zone_at = text.iter().position(|byte| b"+-Z".contains(byte)).unwrap_or(text.len());
    let (clock, clean) = parse_hms(text, zone_at)?;
    let Some((sign, zone)) = text[zone_at..].split_first() else {
        return clean.then_some((clock, None));
    };
    if *sign == b'Z' {
        return zone.is_empty().then_some((clock, Some(0)));
    }
    let ([hour, minute, second, micro], clean) = parse_hms(zone, zone.len())?;
    let offset = ((hour * 60 + minute) * 60 + second) * 1_000_000 + micro;
    clean.then_some((clock, Some(if *sign == b'-' { -offset } else { offset })))
}

/// Parses `HH[[:]MM[[:]SS[.f…]]]` up to `end` and reports whether the text ends there. Python YAQL
/// tolerates one stray character before a zone, so the text beyond `end` has to be examined too.
fn parse_hms(text: &[u8], end: usize) -> Option<([i128; 4], bool)> {
    let mut fields = [0; 4];
    let mut at = 0;
    let mut colons = false;
    for (index, field) in fields.iter_mut().take(3).enumerate() {
        *field = number(text.get(at..at + 2)?)?;
        let next = text.get(at + 2).copied().unwrap_or(0);
        at += 3;
        if index == 0 {
            colons = next == b':';
        }
        match next {
            _ if at >= end => return Some((fields, next == 0)),
            b':' if colons => {}
            b'.' | b',' => break,
            _ if !colons => at -= 1,
            _ => return None,
        }
    }
    let count = (end - at).min(6);
    let digits = number(text.get(at..at + count)?)?;
    fields[3] = digits * 10_i128.pow(6 - count as u32);
    at += count;
    let rest = text[at..].iter().find(|byte| !byte.is_ascii_digit());
    Some((fields, rest.is_none()))
}
