//! Time zones. All zones are fixed offsets; the variants differ in how they are formatted.

use std::fmt::Write as _;

use crate::error::{Error, Result};

use super::timespan::{MICROS_PER_DAY, MICROS_PER_SECOND, TimeSpan};

/// A zone name: at most five ASCII characters, the longest that any of the parsers accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label {
    letters: [u8; 5],
    len: u8,
}

impl Label {
    pub(super) fn new(name: &str) -> Option<Self> {
        if name.len() > 5 || !name.is_ascii() {
            return None;
        }
        let mut letters = [0; 5];
        letters.iter_mut().zip(name.bytes()).for_each(|(to, from)| *to = from);
        Some(Self { letters, len: name.len() as u8 })
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.letters[..usize::from(self.len)]).unwrap_or_default()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Zone {
    /// No zone: counts as UTC and is formatted without an offset.
    Naive,
    Utc,
    /// The local zone, which is UTC. Free-form text that names UTC yields it.
    Local,
    /// Created by the language or by the free-form parser. The offset may be out of range, in which case
    /// using it fails.
    Offset(TimeSpan, Option<Label>),
    /// Created by `strptime` or from the ISO format.
    Fixed(TimeSpan, Option<Label>),
}

impl Zone {
    /// Creates the zone for an offset. Converts through a double of seconds, like Python YAQL, which can
    /// push the largest offsets out of range.
    pub(super) fn of_offset(offset: TimeSpan) -> Result<Self> {
        if offset.is_zero() {
            return Ok(Self::Utc);
        }
        Ok(Self::Offset(TimeSpan::from_float(offset.seconds(), MICROS_PER_SECOND)?, None))
    }

    /// Creates a zone and fails if the offset is out of range.
    pub(super) fn fixed(offset: TimeSpan, name: Option<Label>) -> Result<Self> {
        if in_range(offset) {
            return Ok(Self::Fixed(offset, name));
        }
        let message = format!("{RANGE}, not {}.", offset.to_repr());
        Err(Error::value(message).into())
    }

    /// Returns the offset without a range check.
    pub(super) fn raw_offset(self) -> TimeSpan {
        match self {
            Self::Naive | Self::Utc | Self::Local => TimeSpan::ZERO,
            Self::Offset(offset, _) | Self::Fixed(offset, _) => offset,
        }
    }

    pub(super) fn utc_offset(self) -> Result<TimeSpan> {
        let offset = self.raw_offset();
        if in_range(offset) { Ok(offset) } else { Err(Error::value(format!("{RANGE}.")).into()) }
    }

    /// Returns the text of `%Z`.
    pub(super) fn name(self) -> String {
        match self {
            Self::Naive => String::new(),
            Self::Utc | Self::Local => "UTC".to_owned(),
            Self::Offset(_, name) => name.map_or_else(String::new, |name| name.as_str().to_owned()),
            Self::Fixed(_, Some(name)) => name.as_str().to_owned(),
            Self::Fixed(offset, None) if offset.is_zero() => "UTC".to_owned(),
            Self::Fixed(offset, None) => format!("UTC{}", offset_text(offset, ":")),
        }
    }

    pub(super) fn to_repr(self) -> String {
        let name = |name: Option<Label>| name.map(|name| format!("'{}'", name.as_str()));
        match self {
            Self::Naive => "None".to_owned(),
            Self::Utc => "tzutc()".to_owned(),
            Self::Local => "tzlocal()".to_owned(),
            Self::Offset(offset, label) => {
                let seconds = offset.as_micros() / i128::from(MICROS_PER_SECOND);
                format!("tzoffset({}, {seconds})", name(label).unwrap_or_else(|| "None".to_owned()))
            }
            Self::Fixed(offset, None) if offset.is_zero() => "datetime.timezone.utc".to_owned(),
            Self::Fixed(offset, label) => {
                let label = name(label).map_or_else(String::new, |name| format!(", {name}"));
                format!("datetime.timezone({}{label})", offset.to_repr())
            }
        }
    }
}

const RANGE: &str =
    "offset must be a timedelta strictly between -timedelta(hours=24) and timedelta(hours=24)";

fn in_range(offset: TimeSpan) -> bool {
    offset.as_micros().abs() < i128::from(MICROS_PER_DAY)
}

/// Formats an offset as `+HH:MM[:SS[.ffffff]]` with a given separator.
pub(super) fn offset_text(offset: TimeSpan, separator: &str) -> String {
    let micros = offset.as_micros();
    let sign = if micros < 0 { '-' } else { '+' };
    let (seconds, micros) = (micros.abs() / 1_000_000, micros.abs() % 1_000_000);
    let mut out = format!("{sign}{:02}{separator}{:02}", seconds / 3600, seconds / 60 % 60);
    if seconds % 60 != 0 || micros != 0 {
        let _ = write!(out, "{separator}{:02}", seconds % 60);
    }
    if micros != 0 {
        let _ = write!(out, ".{micros:06}");
    }
    out
}
