//! Converts the text of a scalar to a value according to its tag, as Python does.

use std::sync::Arc;

use num_bigint::BigInt;
use stoker_diagnostics::quoted;

use crate::node::Scalar;
use crate::tag::Tag;
use crate::timestamp::Timestamp;

/// Maximum length of an integer. Python has the same limit for decimal integers, because conversion takes
/// quadratic time.
pub(crate) const INT_CHARS_MAX: usize = 4300;

/// Converts a scalar, or returns why it is invalid. Tags of collections and special keys yield the text;
/// the caller handles them.
pub(crate) fn scalar(tag: Tag, text: &str) -> Result<Scalar, String> {
    match tag {
        Tag::Null => Ok(Scalar::Null),
        Tag::Bool => boolean(text).ok_or_else(|| format!("{} is not a boolean", quoted(text))),
        Tag::Int if text.len() > INT_CHARS_MAX => {
            Err(format!("an integer may have at most {INT_CHARS_MAX} characters"))
        }
        Tag::Int => int(text).ok_or_else(|| format!("{} is not an integer", quoted(text))),
        Tag::Float => float(text).ok_or_else(|| format!("{} is not a float", quoted(text))),
        Tag::Timestamp => Timestamp::parse(text)
            .map(Scalar::Timestamp)
            .map_err(|reason| format!("{} is not a date: {reason}", quoted(text))),
        _ => Ok(Scalar::Str(Arc::from(text))),
    }
}

fn boolean(text: &str) -> Option<Scalar> {
    match text.to_lowercase().as_str() {
        "yes" | "true" | "on" => Some(Scalar::Bool(true)),
        "no" | "false" | "off" => Some(Scalar::Bool(false)),
        _ => None,
    }
}

fn int(text: &str) -> Option<Scalar> {
    let text = text.replace('_', "");
    let (is_negative, digits) = split_sign(&text);
    let magnitude = if digits == "0" {
        BigInt::ZERO
    } else if let Some(binary) = digits.strip_prefix("0b") {
        radix_int(binary, 2, "0b")?
    } else if let Some(hex) = digits.strip_prefix("0x") {
        radix_int(hex, 16, "0x")?
    } else if digits.starts_with('0') {
        radix_int(digits, 8, "0o")?
    } else if digits.contains(':') {
        sexagesimal_int(digits)?
    } else if let Ok(small) = digits.parse::<i64>() {
        // Avoids a big integer in the common case.
        return Some(if is_negative { Scalar::from(-BigInt::from(small)) } else { Scalar::Int(small) });
    } else {
        radix_int(digits, 10, "")?
    };
    Some(Scalar::from(if is_negative { -magnitude } else { magnitude }))
}

fn split_sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// Parses like `int(text, radix)` in Python: allows surrounding whitespace, another sign and the prefix of
/// the radix.
fn radix_int(text: &str, radix: u32, prefix: &str) -> Option<BigInt> {
    let (is_negative, digits) = split_sign(text.trim());
    let digits = match digits.get(..prefix.len()) {
        Some(start) if start.eq_ignore_ascii_case(prefix) => &digits[prefix.len()..],
        _ => digits,
    };
    // `parse_bytes` would accept a further sign.
    if !digits.starts_with(|first: char| first.is_digit(radix)) {
        return None;
    }
    let value = BigInt::parse_bytes(digits.as_bytes(), radix)?;
    Some(if is_negative { -value } else { value })
}

fn sexagesimal_int(text: &str) -> Option<BigInt> {
    text.split(':').try_fold(BigInt::ZERO, |value, part| Some(value * 60 + radix_int(part, 10, "")?))
}

fn float(text: &str) -> Option<Scalar> {
    let text = text.replace('_', "").to_lowercase();
    let (is_negative, digits) = split_sign(&text);
    let magnitude = match digits {
        ".inf" => f64::INFINITY,
        ".nan" => return Some(Scalar::Float(f64::NAN)),
        digits if digits.contains(':') => sexagesimal_float(digits)?,
        digits => digits.trim().parse().ok()?,
    };
    Some(Scalar::Float(if is_negative { -magnitude } else { magnitude }))
}

/// Sums from the last part, like PyYAML, to get the same rounding.
fn sexagesimal_float(text: &str) -> Option<f64> {
    let mut value = 0.0;
    let mut base = 1.0;
    for part in text.rsplit(':') {
        value += part.trim().parse::<f64>().ok()? * base;
        base *= 60.0;
    }
    // Python cannot convert such a base to a float either.
    base.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tag: Tag, text: &str, expected: &str) {
        let result =
            scalar(tag, text).map_or_else(|reason| format!("! {reason}"), |value| format!("{value:?}"));
        assert_eq!(result, expected, "{text}");
    }

    #[test]
    fn integers() {
        check(Tag::Int, "1_000", "Int(1000)");
        check(Tag::Int, "-12", "Int(-12)");
        check(Tag::Int, "0644", "Int(420)");
        check(Tag::Int, "-0x1F", "Int(-31)");
        check(Tag::Int, "0b1_01", "Int(5)");
        check(Tag::Int, "1:30", "Int(90)");
        check(Tag::Int, "-190:20:30", "Int(-685230)");
        check(Tag::Int, "9223372036854775807", "Int(9223372036854775807)");
        check(Tag::Int, "-9223372036854775808", "Int(-9223372036854775808)");
        check(Tag::Int, "9223372036854775808", "BigInt(9223372036854775808)");
        check(Tag::Int, "0x10000000000000000", "BigInt(18446744073709551616)");
        check(Tag::Int, "1:00:00:00:00:00:00:00:00:00:00:00", "BigInt(36279705600000000000)");
        check(Tag::Int, " 12 ", "Int(12)");
        check(Tag::Int, "0o17", "Int(15)");
        for text in ["", "-", "0b_", "0x", "abc", "1.5", "1:", "08", "--", "1 2", "0x-"] {
            check(Tag::Int, text, &format!("! `{text}` is not an integer"));
        }
        check(Tag::Int, &"9".repeat(4301), "! an integer may have at most 4300 characters");
    }

    #[test]
    fn floats() {
        check(Tag::Float, "1.", "Float(1.0)");
        check(Tag::Float, "-1_0.5e+3", "Float(-10500.0)");
        check(Tag::Float, "3", "Float(3.0)");
        check(Tag::Float, "1e3", "Float(1000.0)");
        check(Tag::Float, "-0.0", "Float(-0.0)");
        check(Tag::Float, "-.INF", "Float(-inf)");
        check(Tag::Float, ".NaN", "Float(NaN)");
        check(Tag::Float, "1:30.5", "Float(90.5)");
        check(Tag::Float, "1.0e+999", "Float(inf)");
        check(Tag::Float, "", "! `` is not a float");
        check(Tag::Float, "x", "! `x` is not a float");
        check(
            Tag::Float,
            &format!("1{}.5", ":00".repeat(300)),
            "! `1:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:0…` is not a float",
        );
    }

    #[test]
    fn other_scalars() {
        check(Tag::Null, "anything", "Null");
        check(Tag::Bool, "oN", "Bool(true)");
        check(Tag::Bool, "y", "! `y` is not a boolean");
        check(Tag::Str, "12", "Str(\"12\")");
        check(Tag::Timestamp, "2016-02-30", "! `2016-02-30` is not a date: there is no such day");
    }
}
