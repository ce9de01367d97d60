//! Parses numbers: integers exactly, numbers with a decimal point or an exponent as floats.

use num_bigint::BigInt;
use stoker_diagnostics::{Diagnostic, Diagnostics, Position, quoted};

use super::codes;
use super::cursor::Cursor;
use crate::construct::INT_CHARS_MAX;
use crate::node::Scalar;

/// Parses a number at the cursor, which is at a digit or minus. A malformed number ends parsing.
pub(super) fn read(cursor: &mut Cursor<'_>, problems: &mut Diagnostics) -> Result<Scalar, Box<Diagnostic>> {
    let start = cursor.position();
    let Some(form) = form(cursor.rest().as_bytes()) else {
        return Err(Box::new(malformed(cursor)));
    };
    cursor.skip_ascii(form.n_bytes);
    let text = cursor.since(start);
    let number = if form.is_integer { integer(text) } else { float(text) };
    Ok(number.unwrap_or_else(|message| {
        problems.push(too_large(cursor, start, message));
        Scalar::Null
    }))
}

struct Form {
    n_bytes: usize,
    is_integer: bool,
}

/// Returns the extent of the number; `None` if it is malformed or directly followed by a word character.
fn form(bytes: &[u8]) -> Option<Form> {
    let n_digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    let n_whole = n_digits(at);
    if n_whole == 0 || (n_whole > 1 && bytes[at] == b'0') {
        return None;
    }
    at += n_whole;
    let end_of_integer = at;
    if bytes.get(at) == Some(&b'.') {
        let n_fraction = n_digits(at + 1);
        at += 1 + n_fraction;
        if n_fraction == 0 {
            return None;
        }
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'-' | b'+')));
        let n_exponent = n_digits(at);
        at += n_exponent;
        if n_exponent == 0 {
            return None;
        }
    }
    let has_suffix = bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || b"._-+".contains(byte));
    (!has_suffix).then_some(Form { n_bytes: at, is_integer: at == end_of_integer })
}

fn integer(text: &str) -> Result<Scalar, String> {
    if let Ok(small) = text.parse() {
        return Ok(Scalar::Int(small));
    }
    if text.len() > INT_CHARS_MAX {
        return Err(format!("an integer may have at most {INT_CHARS_MAX} characters"));
    }
    let big = text.parse::<BigInt>();
    big.map(Scalar::from).map_err(|_| format!("{} is not an integer", quoted(text)))
}

fn float(text: &str) -> Result<Scalar, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Scalar::Float(number)),
        _ => Err(format!("{} is out of range for a float", quoted(text))),
    }
}

fn too_large(cursor: &Cursor<'_>, start: Position, message: String) -> Diagnostic {
    Diagnostic::error(codes::VALUE, message).at(cursor.span_from(start)).help("quote the value if it is text")
}

fn malformed(cursor: &Cursor<'_>) -> Diagnostic {
    let word = cursor.word();
    let digits = word.trim_start_matches('-');
    let help = if digits.starts_with("Inf") {
        "JSON does not support infinity: write `null` or a string"
    } else if digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit() {
        "remove the leading zeros, or quote the value if it is text"
    } else if digits.starts_with('.') || digits.ends_with('.') {
        "write digits on both sides of the decimal point"
    } else {
        "quote the value if it is text"
    };
    Diagnostic::error(codes::SYNTAX, format!("{} is not a number", quoted(word)))
        .at(cursor.word_span())
        .help(help)
}
