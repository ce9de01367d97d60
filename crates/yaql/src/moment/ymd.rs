//! Which of the numbers of a free-form date is the year, which the month, which the day.

use super::chars::{is_digit, parse_int};
use super::decimal::Decimal;

/// Text that is no date; the whole of it is to blame, so there is nothing to tell.
pub(super) struct NoDate;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Role {
    Year,
    Month,
}

/// Year, month and day, so far as they are known.
pub(super) type Parts = [Option<i128>; 3];

/// The numbers in the order of the text, and the places of those whose role is certain. The certain
/// ones are the first of their kind, so months come from names and years from long numbers. Nothing
/// ever marks a day.
#[derive(Default)]
pub(super) struct Ymd {
    values: Vec<i128>,
    year: Option<usize>,
    month: Option<usize>,
    /// Whether some number cannot be a year of two digits.
    pub(super) century: bool,
}

impl Ymd {
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Adds digits; more than two of them are a year.
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
        let place = match if long { Some(Role::Year) } else { role } {
            Some(Role::Year) => &mut self.year,
            Some(Role::Month) => &mut self.month,
            None => {
                self.values.push(value);
                return Ok(());
            }
        };
        if place.is_some() {
            return Err(NoDate);
        }
        *place = Some(self.values.len());
        self.values.push(value);
        Ok(())
    }

    pub(super) fn could_be_day(&self, number: &Decimal) -> bool {
        let value = |place: Option<usize>| place.and_then(|place| self.values.get(place).copied());
        let last = match (value(self.month), value(self.year)) {
            (None, _) => 31,
            // Without a year, be generous.
            (Some(month), year) => days_in_month(year.unwrap_or(2000), month),
        };
        number.whole >= 1 && !number.exceeds(last)
    }

    /// The roles of all numbers, guessed by place and size where they are not certain.
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
        let value = |place: Option<usize>| place.and_then(|place| self.values.get(place).copied());
        let day = (self.values.len() == 3)
            .then(|| (0..3).find(|&place| self.year != Some(place) && self.month != Some(place)))
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

/// A number alone or beside a month is a day or, if too large, a year.
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
