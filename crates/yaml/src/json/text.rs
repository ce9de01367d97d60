//! Parses strings.

use std::borrow::Cow;

use stoker_diagnostics::{Diagnostic, Diagnostics, Position, Span};

use super::codes;
use super::cursor::Cursor;

/// Parses a string at its opening quote. An invalid escape is a problem, and parsing continues; an
/// unterminated string ends parsing.
pub(super) fn read<'t>(
    cursor: &mut Cursor<'t>,
    problems: &mut Diagnostics,
) -> Result<Cow<'t, str>, Box<Diagnostic>> {
    let start = cursor.position();
    cursor.skip_ascii(1);
    // Most strings have no escapes and need no copy.
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
            next => return Err(Box::new(unterminated(cursor, start, next))),
        }
        text.push_str(skip_plain(cursor));
    }
}

/// Advances to the next quote, backslash or control character.
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

fn unterminated(cursor: &Cursor<'_>, start: Position, next: Option<u8>) -> Diagnostic {
    let opening =
        Span { start, end: Position { offset: start.offset + 1, column: start.column + 1, ..start } };
    let span = cursor.character_span();
    match next {
        None => Diagnostic::error(codes::SYNTAX, "unterminated string")
            .at(span)
            .help("add the closing `\"`")
            .related(opening, "the string starts here"),
        Some(b'\n' | b'\r') => Diagnostic::error(codes::SYNTAX, "unterminated string")
            .at(span)
            .help("add the closing `\"`, or write the line break as `\\n`")
            .related(opening, "the string starts here"),
        Some(byte) => {
            let message = format!("unescaped control character `\\u{byte:04x}`");
            let help =
                if byte == b'\t' { "write `\\t`".to_owned() } else { format!("write `\\u{byte:04x}`") };
            Diagnostic::error(codes::SYNTAX, message).at(span).help(help)
        }
    }
}

fn escape(cursor: &mut Cursor<'_>, text: &mut String, problems: &mut Diagnostics) {
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
                Diagnostic::error(codes::SYNTAX, "invalid escape sequence")
                    .at(cursor.span_from(start))
                    .help("write `\\\\` for a backslash"),
            );
            return;
        }
    };
    cursor.skip_ascii(2);
    text.push(letter);
}

/// Parses `\uXXXX`, or a surrogate pair of two such escapes.
fn unicode_escape(cursor: &mut Cursor<'_>, text: &mut String, problems: &mut Diagnostics) {
    let start = cursor.position();
    let Some(first) = unit(cursor.rest()) else {
        cursor.skip_ascii(2);
        let problem = Diagnostic::error(codes::SYNTAX, "`\\u` needs four hexadecimal digits")
            .at(cursor.span_from(start));
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
    let message = format!("`\\u{first:04x}` is an unpaired surrogate");
    problems.push(
        Diagnostic::error(codes::VALUE, message)
            .at(cursor.span_from(start))
            .help("write the complete pair, or the character itself"),
    );
}

/// Returns the code unit of a `\u` escape at the start of `rest`.
fn unit(rest: &str) -> Option<u32> {
    let digits = rest.strip_prefix("\\u")?.get(..4)?;
    // `from_str_radix` would accept a sign.
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
