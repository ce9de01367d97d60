//! What to say about text that is no JSON: mostly habits from other languages.

use super::codes;
use super::cursor::Cursor;
use crate::position::Span;
use crate::problem::{Problem, quoted};

/// What the reader was waiting for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Value,
    /// A value after a comma.
    Item,
    /// A key, or the end of an object that has none.
    Key,
    /// A key after a comma.
    NextKey,
    Colon,
    /// A comma, or the end of a list or an object.
    CommaOr(char),
    /// Nothing more.
    End,
}

/// The problem with what stands here; `opened` is the innermost open bracket.
pub(super) fn unexpected(cursor: &Cursor<'_>, wanted: Wanted, opened: Option<Span>) -> Problem {
    let rest = cursor.rest();
    let Some(found) = rest.chars().next() else { return ended(cursor, wanted, opened) };
    let (span, message) = (cursor.word_span(), format!("{}, this is {}", wanted.words(), shown(cursor)));
    let problem = Problem::error(codes::SYNTAX, span, message);
    match help(rest, found, wanted, cursor.word()) {
        Some(help) => problem.help(help),
        None => problem,
    }
}

fn ended(cursor: &Cursor<'_>, wanted: Wanted, opened: Option<Span>) -> Problem {
    let Some(opened) = opened else {
        return Problem::error(codes::SYNTAX, cursor.character_span(), "the text is empty")
            .help("write one JSON value");
    };
    let message = format!("the text ends too early: {}", wanted.words());
    Problem::error(codes::SYNTAX, cursor.character_span(), message)
        .related(opened, "this bracket is still open")
}

fn shown(cursor: &Cursor<'_>) -> String {
    let word = cursor.word();
    match cursor.rest().chars().next() {
        Some(first) if word.is_empty() => quoted(&first.to_string()),
        _ => quoted(word),
    }
}

impl Wanted {
    fn words(self) -> String {
        match self {
            Self::Value | Self::Item => "a value should stand here".to_owned(),
            Self::Key | Self::NextKey => "a key in double quotes should stand here".to_owned(),
            Self::Colon => "a `:` should stand between key and value".to_owned(),
            Self::CommaOr(end) => format!("a `,` or `{end}` should stand here"),
            Self::End => "nothing may follow the value".to_owned(),
        }
    }
}

fn help(rest: &str, found: char, wanted: Wanted, word: &str) -> Option<String> {
    if rest.starts_with("//") || rest.starts_with("/*") || found == '#' {
        return Some("JSON has no comments: remove it".to_owned());
    }
    if matches!((wanted, found), (Wanted::Item, ']') | (Wanted::NextKey, '}')) {
        return Some("remove the comma before it".to_owned());
    }
    if found == '\'' {
        return Some("JSON knows only double quotes".to_owned());
    }
    match wanted {
        Wanted::Key | Wanted::NextKey if !word.is_empty() => Some(format!("write `\"{word}\"`")),
        Wanted::Value | Wanted::Item => word_help(word),
        _ => None,
    }
}

fn word_help(word: &str) -> Option<String> {
    let meant = match word {
        "" => return None,
        "True" | "TRUE" | "yes" | "on" => "true",
        "False" | "FALSE" | "no" | "off" => "false",
        "None" | "Null" | "NULL" | "nil" | "undefined" => "null",
        "NaN" | "Infinity" | "inf" | "nan" => {
            return Some("JSON has no such number: write `null`, or text in quotes".to_owned());
        }
        number if number.starts_with('+') => return Some("a number has no `+` in front".to_owned()),
        number if number.starts_with('.') => {
            return Some("there are digits on both sides of a point".to_owned());
        }
        _ => return Some("put text in double quotes".to_owned()),
    };
    Some(format!("write `{meant}`"))
}
