use crate::pytext::rfind;

use crate::stdlib::prelude::*;
use crate::stdlib::strings::index_of::window;
use crate::stdlib::strings::support::scan;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Returns the position of the last occurrence of a substring in code points, or -1. `start` and `length` select the range to search as in `indexOf`.",
    overloads: &[
        ("m lastIndexOf(string: string, sub: string, start: int = 0)", last_index_of),
        ("m lastIndexOf(string: string, sub: string, start: int, length: int)", last_index_of_within),
    ],
    examples: &[
        ("banana.lastIndexOf(an)", "3"),
        ("banana.lastIndexOf(an, 0, 4)", "1"),
        ("banana.lastIndexOf(an, 4)", "-1"),
        ("banana.lastIndexOf('')", "6"),
        ("banana.lastIndexOf(a, -3, -1)", "5"),
    ],
    purity: Purity::Pure,
};

fn last_index_of(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let text = args.str(0);
    scan(cx, text.len())?;
    Ok(Value::Int(rfind(text, args.str(1), args.int(2), None)))
}

fn last_index_of_within(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let text = args.str(0);
    scan(cx, 2 * text.len())?;
    let (start, end) = window(text, args.peek(2), args.peek(3));
    Ok(Value::Int(rfind(text, args.str(1), start, Some(end))))
}
