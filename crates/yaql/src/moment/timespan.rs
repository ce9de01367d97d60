//! Durations with microsecond precision: Python's `timedelta`.

use std::fmt::Write as _;

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};

use crate::error::{Error, ErrorClass, Result};

pub(super) const MICROS_PER_SECOND: i64 = 1_000_000;
pub(super) const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;
const MAX_DAYS: i32 = 999_999_999;

/// A duration. The field order makes the derived order the order of durations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TimeSpan {
    days: i32,
    /// Microseconds in addition to the days; never negative.
    micros: i64,
}

impl TimeSpan {
    pub const ZERO: Self = Self { days: 0, micros: 0 };

    pub fn new(
        days: impl Into<BigInt>,
        hours: impl Into<BigInt>,
        minutes: impl Into<BigInt>,
        seconds: impl Into<BigInt>,
        milliseconds: impl Into<BigInt>,
        microseconds: impl Into<BigInt>,
    ) -> Result<Self> {
        let total = days.into() * MICROS_PER_DAY
            + hours.into() * 3_600_000_000_i64
            + minutes.into() * 60_000_000
            + seconds.into() * MICROS_PER_SECOND
            + milliseconds.into() * 1000
            + microseconds.into();
        Self::from_big_micros(&total)
    }

    pub fn from_micros(micros: i128) -> Result<Self> {
        let per_day = i128::from(MICROS_PER_DAY);
        let Ok(days) = i32::try_from(micros.div_euclid(per_day)) else { return Err(too_large().into()) };
        if !(-MAX_DAYS..=MAX_DAYS).contains(&days) {
            let message = format!("days={days}; must have magnitude <= {MAX_DAYS}");
            return Err(Error::overflow(message).into());
        }
        Ok(Self { days, micros: micros.rem_euclid(per_day) as i64 })
    }

    pub fn from_big_micros(micros: &BigInt) -> Result<Self> {
        micros.to_i128().map_or_else(|| Err(too_large().into()), Self::from_micros)
    }

    /// Creates the duration since midnight.
    pub(super) fn of_day(micros: i64) -> Self {
        Self { days: 0, micros: micros.clamp(0, MICROS_PER_DAY - 1) }
    }

    /// Creates a duration of `value` units of `unit` microseconds, rounded half to even. Rounds the integer
    /// and fractional parts separately, like Python YAQL, so that large values keep their last digits.
    pub(super) fn from_float(value: f64, unit: i64) -> Result<Self> {
        if value.is_nan() {
            return Err(Error::value("cannot convert float NaN to integer").into());
        }
        if value.is_infinite() {
            return Err(Error::overflow("cannot convert float infinity to integer").into());
        }
        if value.abs() > 1e26 {
            return Err(too_large().into());
        }
        let whole = value.trunc() as i128 * i128::from(unit);
        let rest = value.fract() * unit as f64;
        Self::from_micros(whole + round_half_even(rest, whole % 2 != 0))
    }

    pub fn as_micros(self) -> i128 {
        i128::from(self.days) * i128::from(MICROS_PER_DAY) + i128::from(self.micros)
    }

    pub fn is_zero(self) -> bool {
        self == Self::ZERO
    }

    pub fn checked_neg(self) -> Result<Self> {
        Self::from_micros(-self.as_micros())
    }

    pub fn checked_add(self, other: Self) -> Result<Self> {
        Self::from_micros(self.as_micros() + other.as_micros())
    }

    pub fn checked_sub(self, other: Self) -> Result<Self> {
        Self::from_micros(self.as_micros() - other.as_micros())
    }

    pub fn mul_int(self, factor: &BigInt) -> Result<Self> {
        Self::from_big_micros(&(BigInt::from(self.as_micros()) * factor))
    }

    pub fn mul_float(self, factor: f64) -> Result<Self> {
        Self::from_float(self.as_micros() as f64 * factor, 1)
    }

    pub fn div_int(self, divisor: &BigInt) -> Result<Self> {
        if divisor.is_zero() {
            return Err(zero_division("division by zero").into());
        }
        Self::from_float(true_division(self.as_micros(), divisor), 1)
    }

    pub fn div_float(self, divisor: f64) -> Result<Self> {
        if divisor == 0.0 {
            return Err(zero_division("float division by zero").into());
        }
        Self::from_float(self.as_micros() as f64 / divisor, 1)
    }

    pub fn div_span(self, divisor: Self) -> Result<f64> {
        if divisor.is_zero() {
            return Err(zero_division("float division by zero").into());
        }
        Ok(self.as_micros() as f64 / divisor.as_micros() as f64)
    }

    pub fn days(self) -> f64 {
        self.as_micros() as f64 / MICROS_PER_DAY as f64
    }

    pub fn hours(self) -> f64 {
        self.as_micros() as f64 / 3_600_000_000.0
    }

    pub fn minutes(self) -> f64 {
        self.as_micros() as f64 / 60_000_000.0
    }

    pub fn seconds(self) -> f64 {
        self.as_micros() as f64 / 1_000_000.0
    }

    pub fn milliseconds(self) -> f64 {
        self.as_micros() as f64 / 1000.0
    }

    pub fn microseconds(self) -> i128 {
        self.as_micros()
    }

    /// Returns the duration in seconds, rounded once. [`Self::seconds`] rounds twice, like Python YAQL.
    pub(super) fn total_seconds(self) -> f64 {
        true_division(self.as_micros(), &BigInt::from(MICROS_PER_SECOND))
    }

    /// Formats like `str(timedelta)`.
    pub fn to_text(self) -> String {
        let mut out = String::new();
        if self.days != 0 {
            let plural = if self.days.abs() == 1 { "" } else { "s" };
            let _ = write!(out, "{} day{plural}, ", self.days);
        }
        let (seconds, micros) = (self.micros / MICROS_PER_SECOND, self.micros % MICROS_PER_SECOND);
        let _ = write!(out, "{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
        if micros != 0 {
            let _ = write!(out, ".{micros:06}");
        }
        out
    }

    /// Formats like `repr(timedelta)`.
    pub fn to_repr(self) -> String {
        let (seconds, micros) = (self.micros / MICROS_PER_SECOND, self.micros % MICROS_PER_SECOND);
        let parts = [("days", i64::from(self.days)), ("seconds", seconds), ("microseconds", micros)];
        let parts: Vec<String> = (parts.iter().filter(|(_, value)| *value != 0))
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let inner = if parts.is_empty() { "0".to_owned() } else { parts.join(", ") };
        format!("datetime.timedelta({inner})")
    }
}

fn too_large() -> Error {
    Error::overflow("Python int too large to convert to C int")
}

fn zero_division(message: &str) -> Error {
    Error::new(ErrorClass::ZeroDivision, message)
}

/// Rounds `rest` half to even, where `odd` is the parity of the integer that it is added to.
fn round_half_even(rest: f64, odd: bool) -> i128 {
    let rounded = rest.round();
    if (rounded - rest).abs() == 0.5 {
        let odd = f64::from(u8::from(odd));
        return (2.0 * ((rest + odd) * 0.5).round() - odd) as i128;
    }
    rounded as i128
}

/// Divides two integers and rounds the quotient once, half to even. Quotients below 2^-60 become zero,
/// because they round to zero microseconds.
fn true_division(dividend: i128, divisor: &BigInt) -> f64 {
    let negative = (dividend < 0) != divisor.is_negative();
    let divisor = divisor.abs();
    if divisor.bits() > 192 {
        return 0.0;
    }
    // Enough fractional bits for the quotient to exceed the 53 bits of a double. The lowest bit is sticky, so
    // that rounding the integer quotient equals rounding the exact one.
    let shift = divisor.bits() as i32 + 64;
    let numerator = BigInt::from(dividend.unsigned_abs()) << shift;
    let mut quotient = &numerator / &divisor;
    if &quotient * &divisor != numerator {
        quotient |= BigInt::from(1);
    }
    let magnitude = quotient.to_f64().unwrap_or(f64::INFINITY) * 2_f64.powi(-shift);
    if negative { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(value: i128) -> TimeSpan {
        TimeSpan::from_micros(value).expect("in range")
    }

    #[test]
    fn size() {
        assert!(size_of::<TimeSpan>() <= 16);
    }

    #[test]
    fn texts() {
        let hour = 3_600_000_000;
        let cases = [
            (0, "0:00:00", "datetime.timedelta(0)"),
            (-hour, "-1 day, 23:00:00", "datetime.timedelta(days=-1, seconds=82800)"),
            (hour * 3 / 2, "1:30:00", "datetime.timedelta(seconds=5400)"),
            (48 * hour + 5, "2 days, 0:00:00.000005", "datetime.timedelta(days=2, microseconds=5)"),
        ];
        for (value, text, repr) in cases {
            assert_eq!(micros(value).to_text(), text);
            assert_eq!(micros(value).to_repr(), repr);
        }
    }

    #[test]
    fn limits() {
        let message = |result: Result<TimeSpan>| result.expect_err("too large").message;
        let max = TimeSpan::new(999_999_999, 23, 59, 59, 999, 999).expect("the maximum");
        assert_eq!(message(max.checked_neg()), "days=-1000000000; must have magnitude <= 999999999");
        assert_eq!(message(max.checked_add(micros(1))), "days=1000000000; must have magnitude <= 999999999");
        assert_eq!(
            message(TimeSpan::new(2_147_483_648_i64, 0, 0, 0, 0, 0)),
            "Python int too large to convert to C int"
        );
        assert_eq!(
            message(max.mul_int(&(BigInt::from(1) << 400))),
            "Python int too large to convert to C int"
        );
        assert_eq!(message(max.mul_float(1e200)), "Python int too large to convert to C int");
        assert_eq!(message(max.mul_float(f64::INFINITY)), "cannot convert float infinity to integer");
        assert_eq!(message(max.div_float(f64::NAN)), "cannot convert float NaN to integer");
        assert_eq!(message(max.div_float(0.0)), "float division by zero");
        assert_eq!(message(max.div_int(&BigInt::zero())), "division by zero");
        // The parts exceed 128 bits, their sum does not.
        let large: BigInt = BigInt::from(1) << 200;
        let zero = TimeSpan::new(large.clone(), -large * 24, 0, 0, 0, 0).expect("they cancel out");
        assert!(zero.is_zero());
    }

    #[test]
    fn rounding() {
        let half = |value| micros(value).div_int(&BigInt::from(2)).map(TimeSpan::as_micros).ok();
        assert_eq!([half(5), half(7), half(-5), half(-7)], [Some(2), Some(4), Some(-2), Some(-4)]);
        assert_eq!(micros(5).mul_float(0.5).map(TimeSpan::as_micros).ok(), Some(2));
        assert_eq!(TimeSpan::from_float(0.000_002_5, 1_000_000).ok(), Some(micros(2)));
        assert_eq!(micros(1).div_int(&(BigInt::from(1) << 5000)).ok(), Some(TimeSpan::ZERO));
        assert_eq!(
            TimeSpan::new(999_999_999, 0, 0, 0, 0, 0).map(TimeSpan::days).ok(),
            Some(999_999_998.999_999_9)
        );
    }
}
