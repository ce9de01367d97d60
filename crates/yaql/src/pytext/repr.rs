//! String representations of strings and numbers.

use std::fmt::Write;

use num_bigint::BigInt;

use super::chars::is_printable;
use crate::error::{Error, Result};

/// Maximum number of decimal digits that are printed or parsed.
pub const MAX_INT_DIGITS: usize = 4300;

/// Maximum number of bits of integers that have at most [`MAX_INT_DIGITS`] digits; from two more bits on, all
/// integers have more.
const SURELY_PRINTED_BITS: u64 = 14_284;

/// Returns the `repr` of a string.
pub fn python_repr(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_quoted(&mut out, text);
    out
}

/// Appends the `repr` of a string.
pub fn write_quoted(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    let mut plain_from = 0;
    for (position, c) in text.char_indices() {
        if is_plain(c, quote) {
            continue;
        }
        out.push_str(&text[plain_from..position]);
        plain_from = position + c.len_utf8();
        push_escaped(out, c, quote);
    }
    out.push_str(&text[plain_from..]);
    out.push(quote);
}

fn is_plain(c: char, quote: char) -> bool {
    c != '\\' && c != quote && is_printable(c)
}

fn push_escaped(out: &mut String, c: char, quote: char) {
    // Writing to a string cannot fail.
    let _ = match c {
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        '\\' => out.write_str("\\\\"),
        _ if c == quote => write!(out, "\\{c}"),
        '\0'..='\u{ff}' => write!(out, "\\x{:02x}", u32::from(c)),
        '\u{100}'..='\u{ffff}' => write!(out, "\\u{:04x}", u32::from(c)),
        _ => write!(out, "\\U{:08x}", u32::from(c)),
    };
}

/// Returns the `repr` of a float.
pub fn format_float(value: f64) -> String {
    let mut out = String::new();
    write_float(&mut out, value);
    out
}

/// Appends the `repr` of a float: the shortest digits that parse to the same number.
pub fn write_float(out: &mut String, value: f64) {
    if !value.is_finite() {
        out.push_str(match value {
            f64::INFINITY => "inf",
            f64::NEG_INFINITY => "-inf",
            _ => "nan",
        });
        return;
    }
    let start = out.len();
    // The debug format of Rust has the same number of digits and switches to exponents at the same
    // magnitudes. It differs in rounding ties and in the format of the exponent.
    let _ = write!(out, "{value:?}");
    round_tie_to_even(out, start, value);
    if let Some(e) = out[start..].find('e') {
        normalize_exponent(out, start + e + 1);
    }
}

/// Replaces the last digit of the number at `start` by its even neighbour if both are equally close.
///
/// Replaces the digits if there is a tie: of two equally short and equally close representations, Python
/// prints the even one, Rust the greater one.
fn round_tie_to_even(out: &mut String, start: usize, value: f64) {
    // In a tie the exact value has exactly one more digit. Numbers of up to 15 digits are exact, so a tie
    // needs at least 15 digits, the last of which is odd.
    let text = &out[start..];
    let mantissa = text.split_once('e').map_or(text, |(mantissa, _)| mantissa);
    let odd = mantissa.as_bytes().last().is_some_and(|b| b % 2 == 1);
    if !odd || mantissa.len() < 15 {
        return;
    }
    let digits = mantissa.trim_start_matches(['-', '0', '.']).bytes().filter(u8::is_ascii_digit).count();
    let Some(decimals) = digits.checked_sub(1) else { return };
    // Rust rounds half to even if the number of digits is given.
    let nearest = format!("{value:.decimals$e}");
    // Just above a power of two the even neighbour may parse to another number, since the gap below is
    // smaller.
    if nearest.parse() != Ok(value) {
        return;
    }
    let digit = nearest.split_once('e').and_then(|(mantissa, _)| mantissa.chars().next_back());
    let last = start + mantissa.len() - 1;
    if let Some(digit) = digit {
        out.replace_range(last..=last, digit.encode_utf8(&mut [0; 4]));
    }
}

/// Rewrites the exponent at `at` with an explicit sign and at least two digits.
fn normalize_exponent(out: &mut String, at: usize) {
    let digits_at = if out[at..].starts_with('-') { at + 1 } else { at };
    if out.len() - digits_at < 2 {
        out.insert(digits_at, '0');
    }
    if digits_at == at {
        out.insert(at, '+');
    }
}

/// Returns the `str` of an integer. Fails beyond [`MAX_INT_DIGITS`] digits.
pub fn format_int(value: &BigInt) -> Result<String> {
    // The number of bits bounds the number of digits, so a huge number is rejected without converting it.
    if value.bits() > SURELY_PRINTED_BITS + 1 {
        return Err(too_many_digits().into());
    }
    let text = value.to_string();
    let digits = text.len() - usize::from(text.starts_with('-'));
    if digits > MAX_INT_DIGITS { Err(too_many_digits().into()) } else { Ok(text) }
}

fn too_many_digits() -> Error {
    Error::value(format!(
        "Exceeds the limit ({MAX_INT_DIGITS} digits) for integer string conversion; \
         use sys.set_int_max_str_digits() to increase the limit"
    ))
}

/// Returns the `hex` of an integer: sign, `0x`, lower-case digits. The number of digits is not limited.
pub fn hex_int(value: &BigInt) -> String {
    format!("{value:#x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings() {
        let cases = [
            ("", "''"),
            ("abc é 😀", "'abc é 😀'"),
            ("it's", r#""it's""#),
            (r#"say "hi""#, r#"'say "hi"'"#),
            (r#"it's "x""#, r#"'it\'s "x"'"#),
            ("a\\b\n\r\t", r"'a\\b\n\r\t'"),
            ("\0\x1f\x7f\u{85}\u{a0}\u{ad}", r"'\x00\x1f\x7f\x85\xa0\xad'"),
            ("\u{200b}\u{2028}\u{ffff}", r"'\u200b\u2028\uffff'"),
            ("\u{e0001}\u{10ffff}", r"'\U000e0001\U0010ffff'"),
            ("\u{301}\u{fffd}", "'\u{301}\u{fffd}'"),
        ];
        for (text, expected) in cases {
            assert_eq!(python_repr(text), expected);
        }
    }

    #[test]
    fn floats() {
        let cases = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.1, "0.1"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (0.000_012_3, "1.23e-05"),
            (9_999_999_999_999_998.0, "9999999999999998.0"),
            (1e16, "1e+16"),
            (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
            (1.5e300, "1.5e+300"),
            (-1e-300, "-1e-300"),
            (f64::MAX, "1.7976931348623157e+308"),
            (583_348_553_563_421.0 / 8.0, "72918569195427.62"), // tie: the even digit
            (-877_239_206_938_289.0 / 8.0, "-109654900867286.12"),
            (6_245_930_562_772_617.0 / 4.0, "1561482640693154.2"),
            (5e-324, "5e-324"),
            (2f64.powi(-44), "5.684341886080802e-14"), // the closer representation parses to another number
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
            (-f64::NAN, "nan"),
        ];
        for (value, expected) in cases {
            assert_eq!(format_float(value), expected);
        }
    }

    #[test]
    fn integers() {
        assert_eq!(format_int(&BigInt::from(-42)).expect("short"), "-42");
        let limit = BigInt::from(10).pow(4300);
        assert_eq!(format_int(&(&limit - 1)).expect("4300 digits").len(), 4300);
        assert_eq!(format_int(&(1 - &limit)).expect("4300 digits and a sign").len(), 4301);
        for value in [limit.clone(), -limit.clone(), limit * 8, BigInt::from(1) << 1_000_000] {
            let error = format_int(&value).expect_err("too long");
            assert!(error.message.starts_with("Exceeds the limit (4300 digits) for integer string"));
        }
        assert_eq!(hex_int(&BigInt::from(4095)), "0xfff");
        assert_eq!(hex_int(&BigInt::from(-10)), "-0xa");
        assert_eq!(hex_int(&BigInt::from(0)), "0x0");
    }
}
