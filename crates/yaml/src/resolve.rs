//! Implicit resolvers of YAML 1.1: the tag of a plain scalar.
//!
//! Hand-written matching instead of regular expressions, because every scalar of every file passes through
//! here.

use crate::tag::Tag;
use crate::timestamp::is_timestamp;

/// Returns the tag of an untagged plain scalar.
pub(crate) fn implicit(text: &str) -> Tag {
    let Some(first) = text.as_bytes().first() else { return Tag::Null };
    match first {
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => word(text),
        b'0'..=b'9' | b'-' | b'+' | b'.' => number(text),
        b'<' if text == "<<" => Tag::Merge,
        b'=' if text == "=" => Tag::Value,
        _ => Tag::Str,
    }
}

fn word(text: &str) -> Tag {
    match text {
        "yes" | "Yes" | "YES" | "no" | "No" | "NO" | "true" | "True" | "TRUE" | "false" | "False"
        | "FALSE" | "on" | "On" | "ON" | "off" | "Off" | "OFF" => Tag::Bool,
        "~" | "null" | "Null" | "NULL" => Tag::Null,
        _ => Tag::Str,
    }
}

fn number(text: &str) -> Tag {
    if is_float(text) {
        Tag::Float
    } else if is_int(text) {
        Tag::Int
    } else if is_timestamp(text) {
        Tag::Timestamp
    } else {
        Tag::Str
    }
}

fn is_int(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text).as_bytes();
    match digits {
        b"0" => true,
        [b'0', b'b', rest @ ..] => is_run(rest, |byte| matches!(byte, b'0' | b'1' | b'_')),
        [b'0', b'x', rest @ ..] => is_run(rest, |byte| byte.is_ascii_hexdigit() || byte == b'_'),
        [b'0', rest @ ..] => is_run(rest, |byte| matches!(byte, b'0'..=b'7' | b'_')),
        [b'1'..=b'9', ..] => is_sexagesimal_tail(after_digits(digits)),
        _ => false,
    }
}

/// Reports whether text is a float. A decimal point is required (`1e3` is text), and a sign in the exponent.
fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    match (text.as_bytes(), unsigned.as_bytes()) {
        ([b'.', b'0'..=b'9', rest @ ..], _) => is_exponent(after_digits(rest)),
        (_, digits @ [b'0'..=b'9', ..]) => {
            let Some(dot) = digits.iter().position(|byte| *byte == b'.') else { return false };
            let (whole, fraction) = (after_digits(&digits[..dot]), after_digits(&digits[dot + 1..]));
            if whole.is_empty() {
                is_exponent(fraction)
            } else {
                is_sexagesimal_tail(whole) && fraction.is_empty()
            }
        }
        _ => false,
    }
}

fn is_run(bytes: &[u8], accepts: impl Fn(u8) -> bool) -> bool {
    !bytes.is_empty() && bytes.iter().all(|byte| accepts(*byte))
}

fn after_digits(bytes: &[u8]) -> &[u8] {
    let n_digits = bytes.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'_').count();
    &bytes[n_digits..]
}

/// Reports whether the rest is empty or `e` with a sign and digits.
fn is_exponent(bytes: &[u8]) -> bool {
    match bytes {
        [] => true,
        [b'e' | b'E', b'-' | b'+', digits @ ..] => is_run(digits, |byte| byte.is_ascii_digit()),
        _ => false,
    }
}

/// Reports whether the rest consists of groups such as `:59`.
fn is_sexagesimal_tail(mut bytes: &[u8]) -> bool {
    loop {
        bytes = match bytes {
            [] => return true,
            [b':', b'0'..=b'5', b'0'..=b'9', rest @ ..] | [b':', b'0'..=b'9', rest @ ..] => rest,
            _ => return false,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let check = |tag: Tag, texts: &str| {
            for text in texts.split_whitespace() {
                assert_eq!(implicit(text), tag, "{text}");
            }
        };
        check(Tag::Bool, "yes Yes YES no true True FALSE on On OFF");
        check(Tag::Str, "y Y n N yEs oN tRUE nULL none None nil >> == <<< text y1 ~~");
        check(Tag::Null, "~ null Null NULL");
        assert_eq!(implicit(""), Tag::Null);
        assert_eq!(implicit("="), Tag::Value);
        assert_eq!(implicit("<<"), Tag::Merge);
    }

    #[test]
    fn numbers() {
        let check = |tag: Tag, texts: &str| {
            for text in texts.split_whitespace() {
                assert_eq!(implicit(text), tag, "{text}");
            }
        };
        check(Tag::Int, "0 -0 +12 1_000 1__ 0644 0_7 00 0b101 0b_ -0x1F 0x_ 1:30 190:20:30 -1:0 1:5:9");
        check(
            Tag::Float,
            "1. 1.5 -1.5e+3 1_0.2_5 .5 .5e-1 1:30.5 -190:20:30.15 .inf -.INF +.Inf .nan .NaN 0.0 08.5",
        );
        check(
            Tag::Str,
            "1e3 1.5e3 -.5 +.5 08 0o17 0x 0b12 0xg 1:60 0:30 1:123 1.2.3 1.2:3 - + . .. -- 1a 1, -.nan ._5 _1",
        );
        check(Tag::Timestamp, "2016-01-02 2016-01-02T03:04:05");
        check(Tag::Str, "2016-1-2 192.168.0.1 00:00:00:00:00:01 10-20 1-");
    }
}
