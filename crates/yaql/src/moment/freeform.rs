//! Parses free-form dates by the rules of dateutil's parser.

use jiff::civil::Date;

use crate::error::{Error, ErrorClass, Result};

use super::chars::is_digit;
use super::datetime::DateTime;
use super::decimal::Decimal;
use super::lexer::{self, afternoon, is_jump, is_utc, month, weekday};
use super::numeric::{Stop, half_day, int, slice};
use super::timespan::TimeSpan;
use super::ymd::{Parts, Role, Ymd, days_in_month};
use super::zone::{Label, Zone};

impl DateTime {
    /// Parses a date in free form. Missing parts default to `today` at midnight; a two-digit year is resolved
    /// to within 50 years of `today`.
    pub fn parse(text: &str, today: Date) -> Result<Self> {
        let unknown = || Error::value(format!("Unknown string format: {text}"));
        let mut reader = Reader {
            tokens: lexer::tokens(text),
            ymd: Ymd::default(),
            clock: [None; 4],
            weekday: None,
            zone_name: None,
            zone_offset: None,
            this_year: i128::from(today.year()),
        };
        match reader.read() {
            Ok(parts) => reader.build(parts, text, today),
            Err(Stop::NoDate) => Err(unknown().into()),
            Err(Stop::Error(error)) => Err(error),
        }
    }
}

/// The tokens and the parts that are already parsed.
pub(super) struct Reader {
    pub(super) tokens: Vec<String>,
    pub(super) ymd: Ymd,
    /// Time of day: hour, minute, second, microsecond.
    pub(super) clock: [Option<i128>; 4],
    weekday: Option<i128>,
    zone_name: Option<String>,
    /// Zone offset in seconds east of UTC.
    zone_offset: Option<i128>,
    this_year: i128,
}

impl Reader {
    pub(super) fn token(&self, at: usize) -> Option<&str> {
        self.tokens.get(at).map(String::as_str)
    }

    fn read(&mut self) -> Result<Parts, Stop> {
        let mut at = 0;
        while at < self.tokens.len() {
            at = self.step(at)? + 1;
        }
        let [year, month, day] = self.ymd.resolve()?;
        let year = year.map(|year| if self.ymd.century { year } else { self.full_year(year) });
        self.resolve_zone();
        Ok([year, month, day])
    }

    /// Parses the part that starts at `at` and returns the index of the last token used.
    fn step(&mut self, at: usize) -> Result<usize, Stop> {
        let token = self.tokens[at].clone();
        if is_number(&token) {
            return self.number(at);
        }
        if let Some(day) = weekday(&token) {
            self.weekday = Some(day);
        } else if let Some(month) = month(&token) {
            return self.month_name(at, month);
        } else if let Some(afternoon) = afternoon(&token) {
            // Every AM/PM marker shifts the hour again, as long as it is on the 12-hour clock.
            let hour = self.clock[0].filter(|hour| (0..=12).contains(hour)).ok_or(Stop::NoDate)?;
            self.clock[0] = Some(half_day(hour, afternoon));
        } else if self.zone_offset.is_none() && self.could_be_zone(&token) {
            self.named_zone(at, token);
        } else if self.clock[0].is_some() && matches!(token.as_str(), "+" | "-") {
            return self.numbered_zone(at, token == "+");
        } else if !is_jump(&token) {
            return Err(Stop::NoDate);
        }
        Ok(at)
    }

    /// Parses `Jan-01[-99]`, or `Jan of 01` where the number must be a year.
    fn month_name(&mut self, at: usize, month: i128) -> Result<usize, Stop> {
        self.ymd.add_month(month)?;
        let text = |index: usize| self.tokens.get(index).cloned();
        if let Some(separator @ ("-" | "/")) = text(at + 1).as_deref() {
            let (second, third) = (text(at + 2).ok_or(Stop::NoDate)?, text(at + 4));
            let more = self.token(at + 3) == Some(separator);
            self.ymd.add_text(&second, None)?;
            if !more {
                return Ok(at + 2);
            }
            self.ymd.add_text(&third.ok_or(Stop::NoDate)?, None)?;
            return Ok(at + 4);
        }
        let of = text(at + 2).is_some_and(|word| word.to_lowercase() == "of");
        let blanks = text(at + 1).as_deref() == Some(" ") && text(at + 3).as_deref() == Some(" ");
        let Some(year) = text(at + 4).filter(|_| of && blanks) else { return Ok(at) };
        if year.chars().all(is_digit) {
            let year = self.full_year(int(&year)?);
            self.ymd.add_text(&year.to_string(), Some(Role::Year))?;
        }
        Ok(at + 4)
    }

    /// Resolves a two-digit year to within 50 years of now.
    fn full_year(&self, year: i128) -> i128 {
        if year >= 100 {
            return year;
        }
        let year = year + self.this_year / 100 * 100;
        if year >= self.this_year + 50 {
            year - 100
        } else if year < self.this_year - 50 {
            year + 100
        } else {
            year
        }
    }

    fn could_be_zone(&self, token: &str) -> bool {
        self.clock[0].is_some()
            && self.zone_name.is_none()
            && ((token.len() <= 5 && token.bytes().all(|byte| byte.is_ascii_uppercase())) || token == "z")
    }

    fn named_zone(&mut self, at: usize, name: String) {
        self.zone_offset = (name == "z").then_some(0);
        let sign = match self.token(at + 1) {
            Some("+") => "-",
            Some("-") => "+",
            _ => {
                self.zone_name = Some(name);
                return;
            }
        };
        // In `GMT+3` the sign has the POSIX meaning (local time plus 3 hours is GMT), so it is inverted, and
        // the zone is not GMT itself.
        sign.clone_into(&mut self.tokens[at + 1]);
        self.zone_offset = None;
        self.zone_name = (!is_utc(&name)).then_some(name);
    }

    /// Parses `+0300`, `+03:00` or `+3`, optionally followed by a zone name in parentheses.
    fn numbered_zone(&mut self, at: usize, east: bool) -> Result<usize, Stop> {
        let digits = self.token(at + 1).ok_or(Stop::NoDate)?.to_owned();
        let length = digits.chars().count();
        let mut at = at;
        let (hours, minutes) = if length == 4 {
            (int(&slice(&digits, 0, 2))?, int(&slice(&digits, 2, 4))?)
        } else if self.token(at + 2) == Some(":") {
            let minutes = int(self.token(at + 3).ok_or(Stop::NoDate)?)?;
            at += 2;
            (int(&digits)?, minutes)
        } else if length <= 2 {
            (int(&digits)?, 0)
        } else {
            return Err(Stop::NoDate);
        };
        let seconds = hours * 3600 + minutes * 60;
        self.zone_offset = Some(if east { seconds } else { -seconds });
        if let Some(name) = self.zone_in_parentheses(at) {
            self.zone_name = Some(name);
            at += 4;
        }
        Ok(at + 1)
    }

    fn zone_in_parentheses(&self, at: usize) -> Option<String> {
        let name = self.token(at + 4)?;
        let enclosed = self.token(at + 3) == Some("(") && self.token(at + 5) == Some(")");
        let zone = is_jump(self.token(at + 2)?) && enclosed && name.len() >= 3 && self.could_be_zone(name);
        zone.then(|| name.to_owned())
    }

    fn resolve_zone(&mut self) {
        let name = self.zone_name.as_deref();
        if (self.zone_offset == Some(0) && name.is_none()) || matches!(name, Some("Z" | "z")) {
            self.zone_name = Some("UTC".to_owned());
            self.zone_offset = Some(0);
        } else if name.is_some_and(is_utc) {
            self.zone_offset = Some(0);
        }
    }

    fn build(&self, parts: Parts, text: &str, today: Date) -> Result<DateTime> {
        let numbers = parts.iter().chain(&self.clock).chain([&self.weekday, &self.zone_offset]);
        if numbers.flatten().next().is_none() && self.zone_name.is_none() {
            return Err(Error::value(format!("String does not contain a date: {text}")).into());
        }
        let moment = self.build_date(parts, today).map_err(|mut error| {
            if error.class == ErrorClass::Value {
                error.message = format!("{}: {text}", error.message);
            }
            error
        })?;
        Ok(moment.with_zone(self.build_zone()?))
    }

    fn build_date(&self, [year, month, day]: Parts, today: Date) -> Result<DateTime> {
        let full_year = year.unwrap_or_else(|| i128::from(today.year()));
        let full_month = month.unwrap_or_else(|| i128::from(today.month()));
        if day.is_none() && !(1..=12).contains(&full_month) {
            let message = format!("bad month number {full_month}; must be 1-12");
            return Err(Error::value(message).into());
        }
        // A missing day is limited to the length of the month.
        let last = days_in_month(full_year, full_month);
        let full_day = day.unwrap_or_else(|| i128::from(today.day()).min(last));
        let [hour, minute, second, micro] = self.clock.map(|field| field.unwrap_or(0));
        let fields = [full_year, full_month, full_day, hour, minute, second, micro];
        let moment = DateTime::from_fields(fields, Zone::Utc)?;
        let Some(weekday) = self.weekday.filter(|_| day.is_none()) else { return Ok(moment) };
        let days = (weekday - i128::from(moment.weekday())).rem_euclid(7);
        moment.add_span(TimeSpan::new(days, 0, 0, 0, 0, 0)?)
    }

    fn build_zone(&self) -> Result<Zone> {
        let name = self.zone_name.as_deref();
        Ok(match (name, self.zone_offset) {
            (Some("UTC"), _) => Zone::Local,
            (_, Some(0)) => Zone::Utc,
            (name, Some(offset)) => {
                let offset = TimeSpan::new(0, 0, 0, offset, 0, 0)?;
                Zone::Offset(offset, name.and_then(Label::new))
            }
            // Other zone names are accepted but their offset is unknown; they count as UTC.
            (_, None) => Zone::Utc,
        })
    }
}

/// Reports whether Python's `float` accepts a token, including infinity and NaN.
fn is_number(token: &str) -> bool {
    Decimal::parse(token).is_some()
        || ["inf", "infinity", "nan"].iter().any(|name| token.eq_ignore_ascii_case(name))
}
