//! Syntax error messages, with hints for constructs of other languages.

use stoker_diagnostics::{Diagnostic, Span, quoted};

use super::codes;
use super::cursor::Cursor;

/// Token that the parser expects at the cursor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    Value,
    /// A value after a comma.
    Item,
    /// A key, or the end of an empty object.
    Key,
    /// A key after a comma.
    NextKey,
    Colon,
    /// A comma, or the end of an array or object.
    CommaOr(char),
    /// End of input.
    End,
}

/// Returns the problem for unexpected input at the cursor. `opened` is the innermost open bracket.
pub(super) fn unexpected(cursor: &Cursor<'_>, expected: Expected, opened: Option<Span>) -> Diagnostic {
    let rest = cursor.rest();
    let Some(first) = rest.chars().next() else { return unexpected_end(cursor, expected, opened) };
    let (span, message) =
        (cursor.word_span(), format!("expected {}, found {}", expected.describe(), current_token(cursor)));
    let problem = Diagnostic::error(codes::SYNTAX, message).at(span);
    match help(rest, first, expected, cursor.word()) {
        Some(help) => problem.help(help),
        None => problem,
    }
}

fn unexpected_end(cursor: &Cursor<'_>, expected: Expected, opened: Option<Span>) -> Diagnostic {
    let Some(opened) = opened else {
        return Diagnostic::error(codes::SYNTAX, "empty input")
            .at(cursor.character_span())
            .help("write one JSON value");
    };
    let message = format!("unexpected end of input: expected {}", expected.describe());
    Diagnostic::error(codes::SYNTAX, message).at(cursor.character_span()).related(opened, "unclosed bracket")
}

fn current_token(cursor: &Cursor<'_>) -> String {
    let word = cursor.word();
    match cursor.rest().chars().next() {
        Some(first) if word.is_empty() => quoted(&first.to_string()),
        _ => quoted(word),
    }
}

impl Expected {
    fn describe(self) -> String {
        match self {
            Self::Value | Self::Item => "a value".to_owned(),
            Self::Key | Self::NextKey => "a key in double quotes".to_owned(),
            Self::Colon => "`:` after the key".to_owned(),
            Self::CommaOr(end) => format!("`,` or `{end}`"),
            Self::End => "end of input".to_owned(),
        }
    }
}

fn help(rest: &str, first: char, expected: Expected, word: &str) -> Option<String> {
    if rest.starts_with("//") || rest.starts_with("/*") || first == '#' {
        return Some("remove the comment: JSON does not support comments".to_owned());
    }
    if matches!((expected, first), (Expected::Item, ']') | (Expected::NextKey, '}')) {
        return Some("remove the comma before it".to_owned());
    }
    if first == '\'' {
        return Some("use double quotes: JSON does not support single quotes".to_owned());
    }
    match expected {
        Expected::Key | Expected::NextKey if !word.is_empty() => Some(format!("write `\"{word}\"`")),
        Expected::Value | Expected::Item => word_help(word),
        _ => None,
    }
}

fn word_help(word: &str) -> Option<String> {
    let constant = match word {
        "" => return None,
        "True" | "TRUE" | "yes" | "on" => "true",
        "False" | "FALSE" | "no" | "off" => "false",
        "None" | "Null" | "NULL" | "nil" | "undefined" => "null",
        "NaN" | "Infinity" | "inf" | "nan" => {
            return Some("JSON does not support this number: write `null` or a string".to_owned());
        }
        number if number.starts_with('+') => return Some("remove the `+`".to_owned()),
        number if number.starts_with('.') => {
            return Some("write digits on both sides of the decimal point".to_owned());
        }
        _ => return Some("put strings in double quotes".to_owned()),
    };
    Some(format!("write `{constant}`"))
}
