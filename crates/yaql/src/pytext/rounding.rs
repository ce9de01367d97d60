//! `round(x, n)`: rounds to `n` decimals (to tens, hundreds, … if negative), half to even on the exact value.

use std::cmp::Ordering;

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, Zero};

use super::numbers::{float_to_int, int_to_float};
use crate::error::{Error, Result};

/// Maximum number of decimals that can change a float; with fewer than [`LEAST_DECIMALS`], every float rounds
/// to zero.
const MOST_DECIMALS: i64 = 323;
const LEAST_DECIMALS: i64 = -308;

/// Smallest value from which all floats are integers.
const ALL_WHOLE: f64 = 4_503_599_627_370_496.0; // 2^52

/// Rounds a float. Infinities and NaN are returned unchanged.
pub fn round_float(value: f64, ndigits: i64) -> Result<f64> {
    if !value.is_finite() || ndigits > MOST_DECIMALS {
        return Ok(value);
    }
    if ndigits < LEAST_DECIMALS {
        return Ok(0.0_f64.copysign(value));
    }
    match usize::try_from(ndigits) {
        Ok(decimals) => Ok(round_decimals(value, decimals)),
        Err(_) => round_tens(value, ndigits.unsigned_abs() as u32),
    }
}

fn round_decimals(value: f64, decimals: usize) -> f64 {
    if value.abs() >= ALL_WHOLE {
        return value;
    }
    if decimals == 0 {
        return value.round_ties_even();
    }
    // Formatting rounds the exact value half to even, and parsing the result is exact.
    format!("{value:.decimals$}").parse().unwrap_or(value)
}

fn round_tens(value: f64, zeros: u32) -> Result<f64> {
    let unit = BigInt::from(10).pow(zeros);
    let whole = float_to_int(value.abs())?;
    let (mut count, rest) = whole.div_rem(&unit);
    let beyond_half = match (rest * 2u32).cmp(&unit) {
        // `whole` lacks the fraction, which decides a tie.
        Ordering::Equal => value.fract() != 0.0 || count.is_odd(),
        other => other == Ordering::Greater,
    };
    if beyond_half {
        count += 1u32;
    }
    let rounded = int_to_float(&(count * unit))
        .map_err(|_| Box::new(Error::overflow("rounded value too large to represent")))?;
    Ok(rounded.copysign(value))
}

/// Rounds an integer; unchanged unless `ndigits` is negative.
pub fn round_int(value: &BigInt, ndigits: i64) -> BigInt {
    if ndigits >= 0 {
        return value.clone();
    }
    let zeros = ndigits.unsigned_abs();
    // 10^zeros > 2^(3 * zeros) is more than twice the value then, so the result is 0 without computing it.
    if zeros.saturating_mul(3) > value.bits() {
        return BigInt::zero();
    }
    let unit = BigInt::from(10).pow(zeros as u32);
    let (mut count, rest) = value.abs().div_rem(&unit);
    let up = match (rest * 2u32).cmp(&unit) {
        Ordering::Equal => count.is_odd(),
        other => other == Ordering::Greater,
    };
    if up {
        count += 1u32;
    }
    let rounded = count * unit;
    if value.is_negative() { -rounded } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats() {
        let cases = [
            (2.5, 0, 2.0),
            (3.5, 0, 4.0),
            (-0.4, 0, -0.0),
            (2.675, 2, 2.67),
            (0.125, 2, 0.12),
            (0.375, 2, 0.38),
            (12.3456, 2, 12.35),
            (1e22, 2, 1e22),
            (5e-324, 323, 0.0),
            (8e-324, 323, 1e-323),
            (5e-324, 324, 5e-324),
            (1.5, i64::MAX, 1.5),
            (1.5, i64::MIN, 0.0),
            (-1.5, i64::MIN, -0.0),
            (25.0, -1, 20.0),
            (25.000_001, -1, 30.0),
            (35.0, -1, 40.0),
            (-4.0, -1, -0.0),
            (1.7e308, -309, 0.0),
            (1.4e308, -308, 1e308),
            (9.999e22, -20, 1e23),
            (f64::INFINITY, -5, f64::INFINITY),
        ];
        for (value, ndigits, expected) in cases {
            let got = round_float(value, ndigits).expect("in range");
            assert_eq!(got.to_bits(), f64::to_bits(expected), "round({value}, {ndigits}) = {got}");
        }
        assert!(round_float(f64::NAN, 2).expect("nan").is_nan());
        let error = round_float(1.7e308, -308).expect_err("2e308");
        assert_eq!(error.message, "rounded value too large to represent");
    }

    #[test]
    fn integers() {
        let cases = [
            (1250, -2, 1200),
            (1350, -2, 1400),
            (-1250, -2, -1200),
            (-1251, -2, -1300),
            (17, 0, 17),
            (17, 5, 17),
            (5, -1, 0),
            (6, -1, 10),
            (50, -2, 0),
            (51, -2, 100),
            (99, -3, 0),
            (7, i64::MIN, 0),
            (0, -1, 0),
        ];
        for (value, ndigits, expected) in cases {
            assert_eq!(round_int(&BigInt::from(value), ndigits), BigInt::from(expected), "{value} {ndigits}");
        }
    }
}
