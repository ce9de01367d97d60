//! Character classes and literals as defined by Python's `str` and `int`.

use std::sync::LazyLock;

use regex::Regex;

/// The zero of each run of ten decimal digits (Unicode 14).
const ZEROES: [u32; 66] = [
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50,
    0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40,
    0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30, 0x11066,
    0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0, 0x11950,
    0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6,
    0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];

/// Ranges of characters that are digits but not decimal digits: superscripts, circled digits and so on.
const OTHER_DIGITS: [(u32, u32); 20] = [
    (0xb2, 0xb3),
    (0xb9, 0xb9),
    (0x1369, 0x1371),
    (0x19da, 0x19da),
    (0x2070, 0x2070),
    (0x2074, 0x2079),
    (0x2080, 0x2089),
    (0x2460, 0x2468),
    (0x2474, 0x247c),
    (0x2488, 0x2490),
    (0x24ea, 0x24ea),
    (0x24f5, 0x24fd),
    (0x24ff, 0x24ff),
    (0x2776, 0x277e),
    (0x2780, 0x2788),
    (0x278a, 0x2792),
    (0x10a40, 0x10a43),
    (0x10e60, 0x10e68),
    (0x11052, 0x1105a),
    (0x1f100, 0x1f10a),
];

/// Maximum number of digits that `int()` accepts.
const MAX_INT_DIGITS: usize = 4300;

/// Saturation value for integers too large to be valid here. Small enough that a few additions and products
/// do not overflow.
pub(super) const HUGE: i128 = 1 << 100;

// Characters added after Python's Unicode version count as unassigned.
static LETTER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[\p{L}&&\p{age:14.0}]$").ok());
static UNPRINTABLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[\p{C}\p{Z}\P{age:14.0}]$").ok());

fn is_in(class: &LazyLock<Option<Regex>>, c: char) -> bool {
    class.as_ref().is_some_and(|regex| regex.is_match(c.encode_utf8(&mut [0; 4])))
}

/// Returns the value of a decimal digit of any script.
pub(super) fn decimal_value(c: char) -> Option<u32> {
    if c.is_ascii() {
        return c.to_digit(10);
    }
    let code = u32::from(c);
    let run = ZEROES.partition_point(|&zero| zero <= code).checked_sub(1)?;
    let value = code - ZEROES[run];
    (value < 10).then_some(value)
}

/// Reports whether `str.isdigit` is true for one character.
pub(super) fn is_digit(c: char) -> bool {
    decimal_value(c).is_some()
        || OTHER_DIGITS.iter().any(|&(first, last)| (first..=last).contains(&u32::from(c)))
}

/// Reports whether `str.isalpha` is true for one character.
pub(super) fn is_letter(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphabetic() } else { is_in(&LETTER, c) }
}

/// Reports whether `str.isspace` is true for one character; also the class `\s`.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Reports whether a case-insensitive regular expression treats two characters as equal.
pub(super) fn same_letter(a: char, b: char) -> bool {
    if a == b {
        return true;
    }
    let (a, b) = (simple_lower(a), simple_lower(b));
    // The second test covers characters that share only an upper case, such as the long s and s.
    a == b || a.to_uppercase().eq(b.to_uppercase())
}

fn simple_lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

/// Returns `int(text)` for text without sign, blanks and underscores. Saturates at [`HUGE`].
pub(super) fn parse_int(text: &str) -> Option<i128> {
    let mut value = 0_i128;
    let mut digits = 0;
    for c in text.chars() {
        value = (value * 10 + i128::from(decimal_value(c)?)).min(HUGE);
        digits += 1;
    }
    (1..=MAX_INT_DIGITS).contains(&digits).then_some(value)
}

/// Returns the `repr` of a string.
pub(super) fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            c if c.is_ascii() || is_in(&UNPRINTABLE, c) => out.push_str(&escape(u32::from(c))),
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

fn escape(code: u32) -> String {
    match code {
        0..=0xff => format!("\\x{code:02x}"),
        0x100..=0xffff => format!("\\u{code:04x}"),
        _ => format!("\\U{code:08x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_other_scripts() {
        assert_eq!(parse_int("٣٤"), Some(34));
        assert_eq!(parse_int("²"), None);
        assert!(is_digit('²') && !is_digit('x'));
        assert_eq!(parse_int(""), None);
        assert_eq!(parse_int(&"9".repeat(4300)), Some(HUGE));
        assert_eq!(parse_int(&"0".repeat(4301)), None);
    }

    #[test]
    fn case_insensitive_comparison() {
        assert!(same_letter('s', 'ſ') && same_letter('I', 'ı') && same_letter('i', 'İ'));
        assert!(!same_letter('a', 'b'));
    }

    #[test]
    fn repr_quotes_and_escapes() {
        assert_eq!(quoted("it's"), "\"it's\"");
        assert_eq!(quoted("'\"\n\u{1f}\u{200b}\u{e000}é"), r#"'\'"\n\x1f\u200b\ue000é'"#);
    }
}
