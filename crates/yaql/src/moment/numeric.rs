//! Interprets numbers in free-form dates, by their length and their neighbours.

use crate::error::Error;

use super::chars::{is_digit, parse_int};
use super::decimal::Decimal;
use super::freeform::Reader;
use super::lexer::{afternoon, is_jump, month, unit};
use super::ymd::{NoDate, Role};

/// Reason why parsing stopped.
pub(super) enum Stop {
    NoDate,
    /// An error that is returned unchanged.
    Error(Box<Error>),
}

impl From<NoDate> for Stop {
    fn from(_: NoDate) -> Self {
        Self::NoDate
    }
}

impl From<Box<Error>> for Stop {
    fn from(error: Box<Error>) -> Self {
        Self::Error(error)
    }
}

pub(super) fn int(text: &str) -> Result<i128, Stop> {
    parse_int(text).ok_or(Stop::NoDate)
}

/// Returns a range of characters, truncated at the end of the text.
pub(super) fn slice(text: &str, from: usize, to: usize) -> String {
    text.chars().take(to).skip(from).collect()
}

impl Reader {
    /// Parses the number at `at` with its context and returns the index of the last token used.
    pub(super) fn number(&mut self, at: usize) -> Result<usize, Stop> {
        let text = self.tokens[at].clone();
        let value = Decimal::parse(&text).ok_or(Stop::NoDate)?;
        let length = text.chars().count();
        let follower = self.token(at + 1);
        let date_done = self.ymd.len() == 3 && self.clock[0].is_none();
        if date_done
            && matches!(length, 2 | 4)
            && follower.is_none_or(|next| next != ":" && unit(next).is_none())
        {
            self.clock[0] = Some(int(&slice(&text, 0, 2))?);
            if length == 4 {
                self.clock[1] = Some(int(&slice(&text, 2, 4))?);
            }
            return Ok(at);
        }
        if length == 6 || (length > 6 && text.chars().position(|c| c == '.') == Some(6)) {
            return self.six_digits(&text).map(|()| at);
        }
        if matches!(length, 8 | 12 | 14) {
            return self.long_digits(&text, length).map(|()| at);
        }
        if let Some(unit_at) = self.unit_near(at) {
            return self.with_unit(at, unit_at, &text, &value);
        }
        self.among_neighbours(at, &text, &value)
    }

    /// Parses `YYMMDD` or `HHMMSS[.f]`.
    fn six_digits(&mut self, text: &str) -> Result<(), Stop> {
        if self.ymd.len() == 0 && !text.contains('.') {
            for from in [0, 2, 4] {
                self.ymd.add_text(&slice(text, from, from + 2), None)?;
            }
            return Ok(());
        }
        self.clock[0] = Some(int(&slice(text, 0, 2))?);
        self.clock[1] = Some(int(&slice(text, 2, 4))?);
        self.seconds(&slice(text, 4, usize::MAX))
    }

    /// Parses `YYYYMMDD[HHMM[SS]]`.
    fn long_digits(&mut self, text: &str, length: usize) -> Result<(), Stop> {
        self.ymd.add_text(&slice(text, 0, 4), Some(Role::Year))?;
        self.ymd.add_text(&slice(text, 4, 6), None)?;
        self.ymd.add_text(&slice(text, 6, 8), None)?;
        if length > 8 {
            self.clock[0] = Some(int(&slice(text, 8, 10))?);
            self.clock[1] = Some(int(&slice(text, 10, 12))?);
        }
        if length > 12 {
            self.clock[2] = Some(int(&slice(text, 12, 14))?);
        }
        Ok(())
    }

    /// Parses `S[.f]`, truncating the fraction to microseconds.
    fn seconds(&mut self, text: &str) -> Result<(), Stop> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let micros = int(&format!("{:0<6}", slice(fraction, 0, 6)))?;
        self.clock[2] = Some(int(whole)?);
        self.clock[3] = Some(micros);
        // A second period is an error at any position.
        if fraction.contains('.') { Err(Stop::NoDate) } else { Ok(()) }
    }

    fn minutes(&mut self, value: &Decimal) -> Result<(), Stop> {
        self.clock[1] = Some(value.whole);
        self.clock[2] = value.sixtieths()?;
        Ok(())
    }

    /// Returns the index of the unit of a number. The unit follows the number, possibly after a blank, or
    /// precedes it; in the latter case the number is in the next smaller unit, as in `12h04`.
    fn unit_near(&self, at: usize) -> Option<usize> {
        let has_unit = |index: usize| self.token(index).is_some_and(|token| unit(token).is_some());
        let blank = |index: usize| self.token(index) == Some(" ");
        if has_unit(at + 1) {
            Some(at + 1)
        } else if blank(at + 1) && has_unit(at + 2) {
            Some(at + 2)
        } else if at > 0 && has_unit(at - 1) {
            Some(at - 1)
        } else if at > 1 && at == self.tokens.len() - 1 && blank(at - 1) && has_unit(at - 2) {
            Some(at - 2)
        } else {
            None
        }
    }

    fn with_unit(&mut self, at: usize, unit_at: usize, text: &str, value: &Decimal) -> Result<usize, Stop> {
        let kind = self.token(unit_at).and_then(unit).unwrap_or(3) + usize::from(unit_at < at);
        match kind {
            0 => {
                self.clock[0] = Some(value.whole);
                if let Some(minute) = value.sixtieths()? {
                    self.clock[1] = Some(minute);
                }
            }
            1 => self.minutes(value)?,
            2 => self.seconds(text)?,
            _ => {}
        }
        Ok(at.max(unit_at))
    }

    fn among_neighbours(&mut self, at: usize, text: &str, value: &Decimal) -> Result<usize, Stop> {
        let next = self.token(at + 1).map(str::to_owned);
        let after = self.token(at + 2).map(str::to_owned);
        match (next.as_deref(), after.as_deref()) {
            (Some(":"), Some(minutes)) => self.clock_time(at, value, minutes),
            (Some(separator @ ("-" | "/" | ".")), after) => self.separated(at, text, separator, after),
            (next, after) if next.is_none_or(is_jump) => {
                if let Some(afternoon) = after.and_then(afternoon) {
                    self.clock[0] = Some(half_day(value.whole, afternoon));
                    return Ok(at + 2);
                }
                self.ymd.add_number(value)?;
                Ok(at + 1)
            }
            (Some(next), _) => match afternoon(next) {
                Some(afternoon) if value.whole < 24 => {
                    self.clock[0] = Some(half_day(value.whole, afternoon));
                    Ok(at + 1)
                }
                _ if self.ymd.could_be_day(value) => {
                    self.ymd.add_number(value)?;
                    Ok(at)
                }
                _ => Err(Stop::NoDate),
            },
            (None, _) => Err(Stop::NoDate),
        }
    }

    /// Parses `HH:MM[:SS[.f]]`.
    fn clock_time(&mut self, at: usize, hour: &Decimal, minutes: &str) -> Result<usize, Stop> {
        self.clock[0] = Some(hour.whole);
        self.minutes(&Decimal::parse(minutes).ok_or(Stop::NoDate)?)?;
        if self.token(at + 3) != Some(":") {
            return Ok(at + 2);
        }
        let Some(seconds) = self.token(at + 4).map(str::to_owned) else { return Ok(at + 2) };
        self.seconds(&seconds)?;
        Ok(at + 4)
    }

    /// Parses `01-02[-03]`, where the month may be a name.
    fn separated(
        &mut self,
        at: usize,
        text: &str,
        separator: &str,
        after: Option<&str>,
    ) -> Result<usize, Stop> {
        self.ymd.add_text(text, None)?;
        let Some(second) = after.filter(|second| !is_jump(second)) else { return Ok(at + 1) };
        if second.chars().all(is_digit) {
            self.ymd.add_text(second, None)?;
        } else {
            self.ymd.add_month(month(second).ok_or(Stop::NoDate)?)?;
        }
        if self.token(at + 3) != Some(separator) {
            return Ok(at + 2);
        }
        let third = self.token(at + 4).ok_or(Stop::NoDate)?.to_owned();
        match month(&third) {
            Some(month) => self.ymd.add_month(month)?,
            None => self.ymd.add_text(&third, None)?,
        }
        Ok(at + 4)
    }
}

/// Converts an hour from the 12-hour clock. Hours above 12 are returned unchanged.
pub(super) fn half_day(hour: i128, afternoon: bool) -> i128 {
    match (hour, afternoon) {
        (12, false) => 0,
        (..12, true) => hour + 12,
        _ => hour,
    }
}
