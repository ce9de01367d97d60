//! Decides which numbers of a free-form date are the year, the month and the day.

use super::chars::{is_digit, parse_int};
use super::decimal::Decimal;

/// The text is not a date. Carries no detail, since the error message quotes the whole text.
pub(super) struct NoDate;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Role {
    Year,
    Month,
}

/// Year, month and day, as far as known.
pub(super) type Parts = [Option<i128>; 3];

/// The numbers in text order, and the indexes of the numbers whose role is certain: months given by name, and
/// years with more than two digits. The role of a day is never certain.
#[derive(Default)]
pub(super) struct Ymd {
    values: Vec<i128>,
    year: Option<usize>,
    month: Option<usize>,
    /// Whether a number cannot be a two-digit year.
    pub(super) century: bool,
}

impl Ymd {
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Adds a number given as digits. More than two digits denote a year.
    pub(super) fn add_text(&mut self, text: &str, role: Option<Role>) -> Result<(), NoDate> {
        let long = text.chars().nth(2).is_some() && text.chars().all(is_digit);
        self.add(parse_int(text).ok_or(NoDate)?, long, role)
    }

    pub(super) fn add_number(&mut self, number: &Decimal) -> Result<(), NoDate> {
        self.add(number.whole, number.exceeds(100), None)
    }

    pub(super) fn add_month(&mut self, month: i128) -> Result<(), NoDate> {
        self.add(month, false, Some(Role::Month))
    }

    fn add(&mut self, value: i128, long: bool, role: Option<Role>) -> Result<(), NoDate> {
        self.century |= long;
        let slot = match if long { Some(Role::Year) } else { role } {
            Some(Role::Year) => &mut self.year,
            Some(Role::Month) => &mut self.month,
            None => {
                self.values.push(value);
                return Ok(());
            }
        };
        if slot.is_some() {
            return Err(NoDate);
        }
        *slot = Some(self.values.len());
        self.values.push(value);
        Ok(())
    }

    pub(super) fn could_be_day(&self, number: &Decimal) -> bool {
        let value = |index: Option<usize>| index.and_then(|index| self.values.get(index).copied());
        let last = match (value(self.month), value(self.year)) {
            (None, _) => 31,
            // Without a year, assume a leap year.
            (Some(month), year) => days_in_month(year.unwrap_or(2000), month),
        };
        number.whole >= 1 && !number.exceeds(last)
    }

    /// Assigns roles to all numbers, by position and magnitude where they are not certain.
    pub(super) fn resolve(&self) -> Result<Parts, NoDate> {
        let marked = usize::from(self.year.is_some()) + usize::from(self.month.is_some());
        let count = self.values.len();
        if (count == marked && count > 0) || (count == 3 && marked == 2) {
            return Ok(self.resolve_marked());
        }
        match *self.values.as_slice() {
            [] => Ok([None; 3]),
            [only] => Ok(lone(only, None)),
            [first, second] => Ok(match self.month {
                Some(0) => lone(second, Some(first)),
                Some(_) => lone(first, Some(second)),
                None if first > 31 => [Some(first), Some(second), None],
                None if second > 31 => [Some(second), Some(first), None],
                None => [None, Some(first), Some(second)],
            }),
            [first, second, third] => Ok(self.resolve_three(first, second, third).map(Some)),
            _ => Err(NoDate),
        }
    }

    fn resolve_marked(&self) -> Parts {
        let value = |index: Option<usize>| index.and_then(|index| self.values.get(index).copied());
        let day = (self.values.len() == 3)
            .then(|| (0..3).find(|&index| self.year != Some(index) && self.month != Some(index)))
            .flatten();
        [value(self.year), value(self.month), value(day)]
    }

    fn resolve_three(&self, first: i128, second: i128, third: i128) -> [i128; 3] {
        match self.month {
            Some(0) if second > 31 => [second, first, third],
            Some(0) => [third, first, second],
            Some(1) if first > 31 => [first, second, third],
            Some(1) => [third, second, first],
            Some(_) if second > 31 => [second, third, first],
            Some(_) => [first, third, second],
            None if first > 31 || self.year == Some(0) => [first, second, third],
            None if first > 12 => [third, second, first],
            None => [third, first, second],
        }
    }
}

/// Interprets a single number, next to an optional month, as a day or, if above 31, as a year.
fn lone(value: i128, month: Option<i128>) -> Parts {
    if value > 31 { [Some(value), month, None] } else { [None, month, Some(value)] }
}

pub(super) fn days_in_month(year: i128, month: i128) -> i128 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}
