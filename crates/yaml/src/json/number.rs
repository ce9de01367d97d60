//! Numbers: integers exactly, everything with a point or an exponent as a float.

use num_bigint::BigInt;

use super::codes;
use super::cursor::Cursor;
use crate::construct::INT_CHARS_MAX;
use crate::node::Scalar;
use crate::position::Position;
use crate::problem::{Problem, Problems, quoted};

/// Reads a number that begins here with a digit or a minus. What has the form of none ends the reading.
pub(super) fn read(cursor: &mut Cursor<'_>, problems: &mut Problems) -> Result<Scalar, Box<Problem>> {
    let start = cursor.position();
    let Some(form) = form(cursor.rest().as_bytes()) else {
        return Err(Box::new(malformed(cursor)));
    };
    cursor.skip_ascii(form.n_bytes);
    let written = cursor.since(start);
    let number = if form.is_integer { integer(written) } else { float(written) };
    Ok(number.unwrap_or_else(|message| {
        problems.push(too_large(cursor, start, message));
        Scalar::Null
    }))
}

struct Form {
    n_bytes: usize,
    is_integer: bool,
}

/// How far the number goes; none if this is no number, or something is glued to it.
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
    let is_glued = bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || b"._-+".contains(byte));
    (!is_glued).then_some(Form { n_bytes: at, is_integer: at == end_of_integer })
}

fn integer(written: &str) -> Result<Scalar, String> {
    if let Ok(small) = written.parse() {
        return Ok(Scalar::Int(small));
    }
    if written.len() > INT_CHARS_MAX {
        return Err(format!("an integer may have at most {INT_CHARS_MAX} characters"));
    }
    let big = written.parse::<BigInt>();
    big.map(Scalar::from).map_err(|_| format!("{} is not an integer", quoted(written)))
}

fn float(written: &str) -> Result<Scalar, String> {
    match written.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Scalar::Float(number)),
        _ => Err(format!("{} is too large for a number with a fraction", quoted(written))),
    }
}

fn too_large(cursor: &Cursor<'_>, start: Position, message: String) -> Problem {
    Problem::error(codes::VALUE, cursor.span_from(start), message).help("put it in quotes if text is meant")
}

fn malformed(cursor: &Cursor<'_>) -> Problem {
    let word = cursor.word();
    let digits = word.trim_start_matches('-');
    let help = if digits.starts_with("Inf") {
        "JSON has no infinities: write `null`, or text in quotes"
    } else if digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit() {
        "a number has no zeros in front; put it in quotes if text is meant"
    } else if digits.starts_with('.') || digits.ends_with('.') {
        "there are digits on both sides of a point"
    } else {
        "put it in quotes if text is meant"
    };
    Problem::error(codes::SYNTAX, cursor.word_span(), format!("{} is not a number", quoted(word))).help(help)
}
