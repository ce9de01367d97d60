use crate::pytext::{find, len};

use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::{narrow, scan, wide};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Returns the position of the first occurrence of a substring in code points, or -1. The search starts at `start`, which counts from the end if it is negative, and covers `length` code points, or the rest of the string if `length` is omitted or negative.",
    overloads: &[
        ("m indexOf(string: string, sub: string, start: int = 0)", index_of),
        ("m indexOf(string: string, sub: string, start: int, length: int)", index_of_within),
    ],
    examples: &[
        ("banana.indexOf(an)", "1"),
        ("banana.indexOf(an, 2)", "3"),
        ("banana.indexOf(an, 2, 2)", "-1"),
        ("'žluťoučký'.indexOf('ť', -9)", "3"),
        ("banana.indexOf('', 7)", "-1"),
        ("banana.indexOf(1)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn index_of(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let text = args.str(0);
    scan(cx, text.len())?;
    Ok(Value::Int(find(text, args.str(1), args.int(2), None)))
}

fn index_of_within(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let text = args.str(0);
    scan(cx, 2 * text.len())?;
    let (start, end) = window(text, args.peek(2), args.peek(3));
    Ok(Value::Int(find(text, args.str(1), start, Some(end))))
}

/// Returns the range of a search. A negative start counts from the end; a negative length means the rest.
pub(super) fn window(text: &str, start: &Value, length: &Value) -> (i64, i64) {
    let total = len(text) as i128;
    let (start, length) = (wide(start), wide(length));
    let start = if start < 0 { start + total } else { start };
    let length = if length < 0 { total - start } else { length };
    (narrow(start), narrow(start + length))
}
