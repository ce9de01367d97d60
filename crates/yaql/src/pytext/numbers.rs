//! Parsing, conversion and comparison of numbers.

use std::borrow::Cow;
use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};
use num_traits::{FromPrimitive, ToPrimitive};

use super::chars::{decimal_value, is_space};
use super::repr::{MAX_INT_DIGITS, python_repr};
use crate::error::{Error, Result};

/// Maximum number of bits of integers that are exactly representable as floats.
const EXACT_FLOAT_BITS: u64 = 53;

/// Maximum number of digits of numbers that always fit into `i64`.
const SURE_DIGITS: usize = 18;

/// A parsed integer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParsedInt {
    Small(i64),
    /// An integer outside the range of `i64`.
    Big(BigInt),
}

/// Returns `int(text)`: surrounding whitespace, a sign, decimal digits of any script, single underscores
/// between digits.
pub fn parse_int(text: &str) -> Result<ParsedInt> {
    if matches!(text.len(), 1..=SURE_DIGITS) && text.bytes().all(|b| b.is_ascii_digit()) {
        return Ok(ParsedInt::Small(small_value(text)));
    }
    let ascii = to_ascii(text);
    let trimmed = trim_blanks(&ascii);
    let (negative, unsigned) = match trimmed.as_bytes().first() {
        Some(b'-') => (true, &trimmed[1..]),
        Some(b'+') => (false, &trimmed[1..]),
        _ => (false, trimmed),
    };
    let (span, digits) = scan_digits(unsigned).ok_or_else(|| bad_int(text))?;
    // As in Python, the digit limit is checked before the text after the digits.
    if digits > MAX_INT_DIGITS {
        return Err(too_many_digits(digits).into());
    }
    if span < unsigned.len() {
        return Err(bad_int(text).into());
    }
    let clean = without_underscores(unsigned);
    if digits <= SURE_DIGITS {
        let value = small_value(&clean);
        return Ok(ParsedInt::Small(if negative { -value } else { value }));
    }
    let magnitude = BigInt::parse_bytes(clean.as_bytes(), 10).ok_or_else(|| bad_int(text))?;
    let value = if negative { -magnitude } else { magnitude };
    Ok(value.to_i64().map_or(ParsedInt::Big(value), ParsedInt::Small))
}

/// Returns the value of at most [`SURE_DIGITS`] ASCII digits.
fn small_value(digits: &str) -> i64 {
    digits.bytes().fold(0, |value, b| value * 10 + i64::from(b - b'0'))
}

/// Returns the length of a run of digits with single underscores between them, and the number of digits.
fn scan_digits(text: &str) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let (mut digits, mut previous) = (0, b'_');
    let mut position = 0;
    while let Some(&b) = bytes.get(position) {
        match b {
            b'_' if previous == b'_' => return None,
            b'_' => {}
            b'0'..=b'9' => digits += 1,
            _ => break,
        }
        previous = b;
        position += 1;
    }
    (previous != b'_').then_some((position, digits))
}

fn bad_int(text: &str) -> Error {
    // Python truncates the python_repr text.
    let excerpt: String = python_repr(text).chars().take(200).collect();
    Error::value(format!("invalid literal for int() with base 10: {excerpt}"))
}

fn too_many_digits(digits: usize) -> Error {
    Error::value(format!(
        "Exceeds the limit ({MAX_INT_DIGITS} digits) for integer string conversion: value has {digits} \
         digits; use sys.set_int_max_str_digits() to increase the limit"
    ))
}

/// Returns `float(text)`: like [`parse_int`], plus fractions, exponents, `inf`, `infinity` and `nan`.
pub fn parse_float(text: &str) -> Result<f64> {
    let bad = || Box::new(Error::value(format!("could not convert string to float: {}", python_repr(text))));
    let ascii = to_ascii(text);
    let trimmed = trim_blanks(&ascii);
    if !underscores_between_digits(trimmed) {
        return Err(bad());
    }
    // The remaining text has the grammar of Rust's floats.
    without_underscores(trimmed).parse().map_err(|_| bad())
}

fn underscores_between_digits(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|i| bytes.get(i)).is_some_and(u8::is_ascii_digit);
    text.match_indices('_').all(|(at, _)| digit(at.checked_sub(1)) && digit(Some(at + 1)))
}

fn without_underscores(text: &str) -> Cow<'_, str> {
    if text.contains('_') { Cow::Owned(text.replace('_', "")) } else { Cow::Borrowed(text) }
}

/// Converts digits and whitespace of all scripts to ASCII, and other characters to question marks.
fn to_ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let ascii = |c: char| match decimal_value(c) {
        _ if c.is_ascii() => c,
        Some(digit) => char::from(b'0' + digit),
        None if is_space(c) => ' ',
        None => '?',
    };
    Cow::Owned(text.chars().map(ascii).collect())
}

/// Trims whitespace. Unlike elsewhere, the separators U+001C to U+001F are not whitespace here.
fn trim_blanks(text: &str) -> &str {
    text.trim_matches(|c| matches!(c, '\t'..='\r' | ' '))
}

/// Returns `int(value)`, which rounds towards zero.
pub fn float_to_int(value: f64) -> Result<BigInt> {
    // Fails only for infinities and NaN.
    BigInt::from_f64(value).ok_or_else(|| {
        Box::new(if value.is_nan() {
            Error::value("cannot convert float NaN to integer")
        } else {
            Error::overflow("cannot convert float infinity to integer")
        })
    })
}

/// Returns `float(value)`, which rounds to the nearest float, ties to even.
pub fn int_to_float(value: &BigInt) -> Result<f64> {
    match value.to_f64() {
        Some(float) if float.is_finite() => Ok(float),
        _ => Err(Box::new(Error::overflow("int too large to convert to float"))),
    }
}

/// Compares exact values; `None` for NaN.
pub fn cmp_int_float(int: &BigInt, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    if float.is_infinite() {
        return 0.0.partial_cmp(&float);
    }
    if int.bits() <= EXACT_FLOAT_BITS {
        return int.to_f64()?.partial_cmp(&float);
    }
    // Here the integer is nonzero and larger than every float with a fraction.
    let whole = BigInt::from_f64(float)?;
    let quick = match (int.sign(), whole.sign()) {
        (Sign::Plus, Sign::Plus) => int.bits().cmp(&whole.bits()),
        (Sign::Minus, Sign::Minus) => whole.bits().cmp(&int.bits()),
        (ours, theirs) => ours.cmp(&theirs),
    };
    Some(quick.then_with(|| int.cmp(&whole)))
}

/// Like [`cmp_int_float`], without allocation.
pub fn cmp_i64_float(int: i64, float: f64) -> Option<Ordering> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0; // 2^63
    if float.is_nan() {
        None
    } else if float >= LIMIT {
        Some(Ordering::Less)
    } else if float < -LIMIT {
        Some(Ordering::Greater)
    } else {
        // If the integer parts are equal, the fraction decides.
        let whole = float.trunc();
        int.cmp(&(whole as i64)).then_with(|| whole.total_cmp(&float)).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_from_text() {
        let cases = [
            ("42", 42),
            (" \t\n\x0b\x0c\r-0042 ", -42),
            ("+1_000", 1000),
            ("٤٢", 42),
            ("٣_4", 34),
            ("\u{85}\u{3000}7\u{a0}", 7),
            ("-9223372036854775808", i64::MIN),
            ("0000000000000000000000000000001", 1),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_int(text).expect(text), ParsedInt::Small(expected), "{text:?}");
        }
        let big = parse_int("9223372036854775808").expect("big");
        assert_eq!(big, ParsedInt::Big(BigInt::from(1_u64 << 63)));
        assert!(matches!(parse_int(&"9".repeat(4300)), Ok(ParsedInt::Big(_))));
    }

    #[test]
    fn invalid_integers_are_rejected() {
        let bad = [
            "", " ", "+", "+ 1", "--1", "_1", "1_", "1__1", "1.5", "1 2", "0x1", "é1", "1é", "\x1c1", "1\0",
            "²", "1_é",
        ];
        for text in bad {
            let error = parse_int(text).expect_err(text);
            let expected = format!("invalid literal for int() with base 10: {}", python_repr(text));
            assert_eq!(error.message, expected);
        }
        let error = parse_int(&"x".repeat(500)).expect_err("letters");
        assert_eq!(error.message.len(), "invalid literal for int() with base 10: ".len() + 200);
        for text in ["0".repeat(5000), "9".repeat(5000) + "x", "-".to_owned() + &"1".repeat(5000)] {
            let error = parse_int(&text).expect_err("long");
            assert!(error.message.contains("conversion: value has 5000 digits; use sys."), "{error}");
        }
        let doubled = "1".repeat(5000) + "__1";
        assert!(parse_int(&doubled).expect_err("long").message.starts_with("invalid literal"));
    }

    #[test]
    fn floats_from_text() {
        let cases = [
            ("1e3", 1000.0),
            (" -1.5 ", -1.5),
            ("1.", 1.0),
            (".5", 0.5),
            ("1.e5", 1e5),
            ("1_0.0_1e1_0", 10.01e10),
            ("+InFinity", f64::INFINITY),
            ("-inf", f64::NEG_INFINITY),
            ("1e400", f64::INFINITY),
            ("1e-99999999999999999999", 0.0),
            ("٣.٤", 3.4),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_float(text).expect(text), expected, "{text:?}");
        }
        assert!(parse_float("\u{2003}-NaN").expect("nan").is_nan());
        let bad = [
            "", ".", "e5", "1e", "1_.0", "1._0", "_1", "1e_5", "0x1p3", "in_f", "nan(1)", "1\0", "\x1c1",
            "1 2", "infinit",
        ];
        for text in bad {
            let error = parse_float(text).expect_err(text);
            assert_eq!(error.message, format!("could not convert string to float: {}", python_repr(text)));
        }
    }

    #[test]
    fn conversions() {
        assert_eq!(float_to_int(-3.9).expect("finite"), BigInt::from(-3));
        assert_eq!(float_to_int(1e30).expect("finite").to_string(), "1000000000000000019884624838656");
        assert_eq!(float_to_int(f64::NAN).expect_err("nan").message, "cannot convert float NaN to integer");
        let error = float_to_int(f64::NEG_INFINITY).expect_err("infinite");
        assert_eq!(error.message, "cannot convert float infinity to integer");

        let two = |bits: u32| BigInt::from(1) << bits;
        assert_eq!(int_to_float(&(two(53) + 1)).expect("tie"), 9_007_199_254_740_992.0);
        assert_eq!(int_to_float(&(two(53) + 3)).expect("tie"), 9_007_199_254_740_996.0);
        assert_eq!(
            int_to_float(&((two(153) + two(100)) + 1)).expect("above"),
            2f64.powi(153) + 2f64.powi(101)
        );
        let below_limit: BigInt = two(1024) - two(970) - 1;
        assert_eq!(int_to_float(&below_limit).expect("largest"), f64::MAX);
        assert!(int_to_float(&(below_limit + 1)).is_err());
        assert!(int_to_float(&-two(2000)).is_err());
    }

    #[test]
    fn comparisons() {
        use Ordering::{Equal, Greater, Less};
        let cases = [
            (9_007_199_254_740_993, 9_007_199_254_740_992.0, Greater),
            (-9_007_199_254_740_993, -9_007_199_254_740_992.0, Less),
            (1, 1.5, Less),
            (-1, -1.5, Greater),
            (0, -0.0, Equal),
            (0, 5e-324, Less),
            (i64::MAX, 9_223_372_036_854_775_808.0, Less),
            (i64::MIN, -9_223_372_036_854_775_808.0, Equal),
            (i64::MIN, -1e300, Greater),
            (5, f64::INFINITY, Less),
            (i64::MAX, f64::NEG_INFINITY, Greater),
            (i64::MAX, -1.0, Greater),
            (i64::MIN, 0.5, Less),
        ];
        for (int, float, expected) in cases {
            assert_eq!(cmp_i64_float(int, float), Some(expected), "{int} {float}");
            assert_eq!(cmp_int_float(&BigInt::from(int), float), Some(expected), "{int} {float}");
        }
        assert_eq!(cmp_i64_float(1, f64::NAN), None);
        assert_eq!(cmp_int_float(&BigInt::from(1), f64::NAN), None);
        let big = BigInt::from(10).pow(30);
        assert_eq!(cmp_int_float(&big, 1e30), Some(Less));
        assert_eq!(cmp_int_float(&-big, -1e30), Some(Greater));
    }
}
