//! Text functions of Python: quoting, escaping, and integers in group
//! names.

use super::unicode::{digit_value, is_printable, is_space};
use std::fmt::Write;

/// Returns the `repr()` of a string.
pub(super) fn quote(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for ch in text.chars() {
        push_quoted(&mut out, ch, quote);
    }
    out.push(quote);
    out
}

fn push_quoted(out: &mut String, ch: char, quote: char) {
    let code = u32::from(ch);
    // Writing to a string does not fail.
    let _ = match ch {
        '\\' => out.write_str("\\\\"),
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        _ if ch == quote => write!(out, "\\{ch}"),
        _ if is_printable(ch) => out.write_char(ch),
        _ if code < 0x100 => write!(out, "\\x{code:02x}"),
        _ if code < 0x1_0000 => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    };
}

/// Escapes a text like `re.escape()`.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for ch in text.chars() {
        if matches!(ch, '(' | ')' | '[' | ']' | '{' | '}' | '?' | '*' | '+' | '-' | '|' | '^' | '$' | '\\')
            || matches!(ch, '.' | '&' | '~' | '#' | ' ' | '\t' | '\n' | '\r' | '\x0B' | '\x0C')
        {
            out.push('\\');
        }
        out.push(ch);
    }
    out
}

/// A non-negative number used as a group name.
pub(super) struct Number {
    /// The digits as Python prints them.
    pub(super) digits: String,
    /// Value; `None` if it is larger than `u64`.
    pub(super) value: Option<u64>,
}

/// Parses a non-negative integer like `int()`: surrounding whitespace, a sign, digits of any script, and
/// single underscores between digits are allowed.
pub(super) fn parse_int(text: &str) -> Option<Number> {
    let text = text.trim_matches(is_space);
    let (negative, body) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut digits = String::new();
    let mut count = 0;
    let mut after_digit = false;
    for ch in body.chars() {
        match digit_value(ch) {
            Some(value) => {
                count += 1;
                after_digit = true;
                if value > 0 || !digits.is_empty() {
                    digits.extend(char::from_digit(value, 10));
                }
            }
            None if ch == '_' && after_digit => after_digit = false,
            None => return None,
        }
    }
    let zero = digits.is_empty();
    if !after_digit || count > 4300 || (negative && !zero) {
        return None;
    }
    if zero {
        digits.push('0');
    }
    Some(Number { value: digits.parse().ok(), digits })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_parsed_like_the_reference() {
        let value = |text| parse_int(text).map(|number| number.digits);
        assert_eq!(value(" +1_0\t").as_deref(), Some("10"));
        assert_eq!(value("-0").as_deref(), Some("0"));
        assert_eq!(value("٣").as_deref(), Some("3"));
        assert_eq!(value("007").as_deref(), Some("7"));
        for bad in ["", "-1", "1__0", "_1", "1_", "x", "+-1", "1 0"] {
            assert_eq!(value(bad), None, "{bad}");
        }
    }

    #[test]
    fn repr_quotes_and_escapes() {
        assert_eq!(quote("a'b"), "\"a'b\"");
        assert_eq!(quote("a'b\""), "'a\\'b\"'");
        assert_eq!(quote("\u{1}\u{200b}é\n\u{e0001}"), "'\\x01\\u200bé\\n\\U000e0001'");
    }

    #[test]
    fn escape_matches_re_escape() {
        assert_eq!(escape("a-b c_d/é\n"), "a\\-b\\ c_d/é\\\n");
        assert_eq!(escape("!\"%',:;<=>@`"), "!\"%',:;<=>@`");
    }
}
