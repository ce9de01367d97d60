//! Strings, numbers and booleans.

use std::ops::RangeInclusive;

use stoker_diagnostics::Diagnostics;
use stoker_yaml::{Node, NodeKind, Scalar};

use super::report_wrong_type;
use crate::codes;

/// Reads a string.
pub fn string(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    text(node, problems).map(str::to_owned)
}

/// Reads a string whose length in characters is in the range.
pub fn string_with_length(
    length: RangeInclusive<usize>,
) -> impl Fn(&Node, &mut Diagnostics) -> Option<String> {
    move |node, problems| {
        let text = text(node, problems)?;
        let n_chars = text.chars().count();
        if length.contains(&n_chars) {
            return Some(text.to_owned());
        }
        let (min, max) = (length.start(), length.end());
        problems.error(
            codes::LENGTH,
            node.span,
            format!("must have {min} to {max} characters, got {n_chars}"),
        );
        None
    }
}

/// Borrows a string. Unquoted values that YAML parses as a number or a date are rejected: their source text
/// is lost.
pub(crate) fn text<'n>(node: &'n Node, problems: &mut Diagnostics) -> Option<&'n str> {
    if let Some(text) = node.as_str() {
        return Some(text);
    }
    let is_unquoted = matches!(&node.kind, NodeKind::Scalar(scalar) if *scalar != Scalar::Null);
    let help = is_unquoted.then(|| "put it in quotes".to_owned());
    report_wrong_type(node, "text", problems).help = help;
    None
}

pub fn integer(node: &Node, problems: &mut Diagnostics) -> Option<i64> {
    match &node.kind {
        NodeKind::Scalar(Scalar::Int(number)) => Some(*number),
        NodeKind::Scalar(Scalar::BigInt(_)) => {
            problems.error(codes::RANGE, node.span, format!("must be at most {}", i64::MAX));
            None
        }
        NodeKind::Scalar(Scalar::Str(text)) if text.parse::<i64>().is_ok() => {
            report_wrong_type(node, "an integer", problems).set_help("remove the quotes");
            None
        }
        _ => {
            report_wrong_type(node, "an integer", problems);
            None
        }
    }
}

/// Reads an integer in a range.
pub fn integer_in(range: RangeInclusive<i64>) -> impl Fn(&Node, &mut Diagnostics) -> Option<i64> {
    move |node, problems| {
        let number = integer(node, problems)?;
        if range.contains(&number) {
            return Some(number);
        }
        let message = match (*range.start(), *range.end()) {
            (min, i64::MAX) => format!("must be at least {min}, got {number}"),
            (min, max) => format!("must be {min} to {max}, got {number}"),
        };
        problems.error(codes::RANGE, node.span, message);
        None
    }
}

/// Reads the id of a record: a positive integer.
pub fn identifier(node: &Node, problems: &mut Diagnostics) -> Option<i64> {
    integer_in(1..=i64::MAX)(node, problems)
}

pub fn boolean(node: &Node, problems: &mut Diagnostics) -> Option<bool> {
    match &node.kind {
        NodeKind::Scalar(Scalar::Bool(flag)) => Some(*flag),
        NodeKind::Scalar(Scalar::Str(text)) if matches!(&*text.to_lowercase(), "true" | "false") => {
            report_wrong_type(node, "true or false", problems).set_help("remove the quotes");
            None
        }
        _ => {
            report_wrong_type(node, "true or false", problems);
            None
        }
    }
}
