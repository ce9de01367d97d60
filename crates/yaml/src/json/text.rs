//! Text in double quotes.

use std::borrow::Cow;

use super::codes;
use super::cursor::Cursor;
use crate::position::{Position, Span};
use crate::problem::{Problem, Problems};

/// Reads text whose opening quote is here. An escape that means nothing is a problem and reading goes on; a text
/// that does not end is the end of reading.
pub(super) fn read<'t>(
    cursor: &mut Cursor<'t>,
    problems: &mut Problems,
) -> Result<Cow<'t, str>, Box<Problem>> {
    let start = cursor.position();
    cursor.skip_ascii(1);
    // Most texts have no escapes and need no copy here.
    let plain = skip_plain(cursor);
    if cursor.peek() == Some(b'"') {
        cursor.skip_ascii(1);
        return Ok(Cow::Borrowed(plain));
    }
    let mut text = String::from(plain);
    loop {
        match cursor.peek() {
            Some(b'"') => {
                cursor.skip_ascii(1);
                return Ok(Cow::Owned(text));
            }
            Some(b'\\') => escape(cursor, &mut text, problems),
            found => return Err(Box::new(unfinished(cursor, start, found))),
        }
        text.push_str(skip_plain(cursor));
    }
}

/// Passes everything up to a quote, a backslash or a control character.
fn skip_plain<'t>(cursor: &mut Cursor<'t>) -> &'t str {
    let rest = cursor.rest();
    let mut n_continued = 0;
    let mut end = rest.len();
    for (at, byte) in rest.bytes().enumerate() {
        if matches!(byte, b'"' | b'\\' | 0..0x20) {
            end = at;
            break;
        }
        n_continued += usize::from(byte & 0xc0 == 0x80);
    }
    cursor.skip_text(end, end - n_continued);
    &rest[..end]
}

fn unfinished(cursor: &Cursor<'_>, start: Position, found: Option<u8>) -> Problem {
    let opening =
        Span { start, end: Position { offset: start.offset + 1, column: start.column + 1, ..start } };
    let span = cursor.character_span();
    match found {
        None => Problem::error(codes::SYNTAX, span, "the text in quotes does not end")
            .help("write the closing `\"`")
            .related(opening, "it begins here"),
        Some(b'\n' | b'\r') => {
            Problem::error(codes::SYNTAX, span, "the text in quotes does not end on its line")
                .help("write the closing `\"`, and line breaks in text as `\\n`")
                .related(opening, "it begins here")
        }
        Some(byte) => {
            let message = format!("the control character `\\u{byte:04x}` cannot stand in text as it is");
            let help =
                if byte == b'\t' { "write `\\t`".to_owned() } else { format!("write `\\u{byte:04x}`") };
            Problem::error(codes::SYNTAX, span, message).help(help)
        }
    }
}

fn escape(cursor: &mut Cursor<'_>, text: &mut String, problems: &mut Problems) {
    let start = cursor.position();
    let letter = match cursor.rest().as_bytes().get(1) {
        Some(b'u') => return unicode_escape(cursor, text, problems),
        Some(letter @ (b'"' | b'\\' | b'/')) => char::from(*letter),
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        _ => {
            cursor.skip_ascii(1);
            problems.push(
                Problem::error(codes::SYNTAX, cursor.span_from(start), "this backslash begins no escape")
                    .help("write `\\\\` for a backslash"),
            );
            return;
        }
    };
    cursor.skip_ascii(2);
    text.push(letter);
}

/// `\uXXXX`, or two of them for a character beyond the first 65,536.
fn unicode_escape(cursor: &mut Cursor<'_>, text: &mut String, problems: &mut Problems) {
    let start = cursor.position();
    let Some(first) = unit(cursor.rest()) else {
        cursor.skip_ascii(2);
        let problem =
            Problem::error(codes::SYNTAX, cursor.span_from(start), "`\\u` needs four hexadecimal digits");
        return problems.push(problem.help("write it as in `\\u00e4`, or `\\\\` for a backslash"));
    };
    cursor.skip_ascii(6);
    let second = if is_high(first) { unit(cursor.rest()).filter(|second| is_low(*second)) } else { None };
    let code = match second {
        Some(second) => {
            cursor.skip_ascii(6);
            0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)
        }
        None => first,
    };
    if let Some(letter) = char::from_u32(code) {
        return text.push(letter);
    }
    let message = format!("`\\u{first:04x}` is half of a surrogate pair");
    problems.push(
        Problem::error(codes::VALUE, cursor.span_from(start), message)
            .help("write both halves, or the character itself"),
    );
}

/// The code unit of an escape that begins here.
fn unit(rest: &str) -> Option<u32> {
    let digits = rest.strip_prefix("\\u")?.get(..4)?;
    // `from_str_radix` would take a sign.
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

fn is_high(unit: u32) -> bool {
    (0xd800..0xdc00).contains(&unit)
}

fn is_low(unit: u32) -> bool {
    (0xdc00..0xe000).contains(&unit)
}
