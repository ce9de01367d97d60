use crate::pytext;

use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::{narrow, part, scan, wide};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Returns a substring, in code points. It starts at `start`, which counts from the end if it is negative, and is `length` code points long, or extends to the end if `length` is negative. The range is clamped to the string.",
    overloads: &[("m substring(string: string, start: int, length: int = -1)", substring)],
    examples: &[
        ("deploy.substring(2)", r#""ploy""#),
        ("deploy.substring(-3, 2)", r#""lo""#),
        ("deploy.substring(1, 99)", r#""eploy""#),
        ("deploy.substring(9)", r#""""#),
        ("'a😀b'.substring(1, 1)", r#""😀""#),
        ("deploy.substring(a)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn substring(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let text = args.text(0);
    scan(cx, text.len())?;
    let slice = match (args.peek(1), args.peek(2)) {
        (Value::Int(start), Value::Int(length)) => pytext::substring(&text, *start, *length),
        (start, length) => substring_wide(&text, wide(start), wide(length)),
    };
    part(cx, &text, slice)
}

/// Handles booleans and integers outside `i64`.
fn substring_wide(text: &str, start: i128, length: i128) -> &str {
    let total = pytext::len(text) as i128;
    let length = if length < 0 { total } else { length };
    let start = if start < 0 { start + total } else { start };
    pytext::slice(text, narrow(start), Some(narrow(start + length)))
}
