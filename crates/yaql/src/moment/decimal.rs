//! Decimal numbers in free-form dates, with the precision of Python's `decimal`.

use crate::error::{Error, Result};

use super::chars::{HUGE, decimal_value};

/// Significant digits of the arithmetic, Python's default.
const PRECISION: usize = 28;

/// A non-negative decimal number.
pub(super) struct Decimal {
    /// The integer part, saturated at [`HUGE`].
    pub(super) whole: i128,
    whole_digits: usize,
    /// Digits after the decimal point.
    fraction: Vec<u8>,
}

impl Decimal {
    /// Parses digits of any script with at most one decimal point.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut number = Self { whole: 0, whole_digits: 0, fraction: Vec::new() };
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        for c in whole.chars() {
            let digit = decimal_value(c)?;
            number.whole = (number.whole * 10 + i128::from(digit)).min(HUGE);
            number.whole_digits += usize::from(digit != 0 || number.whole_digits > 0);
        }
        for c in fraction.chars() {
            number.fraction.push(decimal_value(c)? as u8);
        }
        Some(number)
    }

    fn has_fraction(&self) -> bool {
        self.fraction.iter().any(|&digit| digit != 0)
    }

    pub(super) fn exceeds(&self, limit: i128) -> bool {
        self.whole > limit || (self.whole == limit && self.has_fraction())
    }

    /// Returns sixty times the fraction, truncated: the minutes of a fractional hour. `None` if there is no
    /// fraction.
    pub(super) fn sixtieths(&self) -> Result<Option<i128>> {
        if self.whole_digits > PRECISION {
            return Err(Error::value("[<class 'decimal.DivisionImpossible'>]").into());
        }
        if !self.has_fraction() {
            return Ok(None);
        }
        let zeroes = self.fraction.iter().take_while(|&&digit| digit == 0).count();
        let (significant, dropped) =
            self.fraction[zeroes..].split_at(PRECISION.min(self.fraction.len() - zeroes));
        let coefficient = significant.iter().fold(0_i128, |value, &digit| value * 10 + i128::from(digit));
        let round_up = match dropped.split_first() {
            Some((5, rest)) if rest.iter().all(|&digit| digit == 0) => coefficient % 2 == 1,
            Some((&first, _)) => first >= 5,
            None => false,
        };
        let product = round((coefficient + i128::from(round_up)) * 60);
        // The product has at most 31 digits, so beyond 35 decimal places the result is 0.
        let places = zeroes + significant.len();
        Ok(Some(if places > 35 { 0 } else { product / 10_i128.pow(places as u32) }))
    }
}

/// Rounds half to even to the precision; the dropped digits become zeros.
fn round(value: i128) -> i128 {
    let mut unit = 1;
    while value / unit >= 10_i128.pow(PRECISION as u32) {
        unit *= 10;
    }
    let (quotient, rest) = (value / unit, value % unit);
    let up = rest * 2 > unit || (rest * 2 == unit && quotient % 2 == 1);
    (quotient + i128::from(up)) * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixtieths() {
        let cases = [("1", None), ("1.5", Some(30)), ("1.0", None), ("10.001", Some(0)), ("7.99", Some(59))];
        for (text, expected) in cases {
            let number = Decimal::parse(text).expect("a number");
            assert_eq!(number.sixtieths().expect("no overflow"), expected, "{text}");
        }
        let nines = Decimal::parse(&format!("0.{}", "9".repeat(40))).expect("a number");
        assert_eq!(nines.sixtieths().expect("no overflow"), Some(60));
        let large = Decimal::parse(&"9".repeat(30)).expect("a number");
        assert!(large.sixtieths().is_err());
        let tiny = Decimal::parse(&format!("0.{}1", "0".repeat(1000))).expect("a number");
        assert_eq!(tiny.sixtieths().expect("no overflow"), Some(0));
    }
}
