use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::scan;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Reports whether the left string is less than the right one, compared by code points. A proper prefix is less than the string.",
    overloads: &[("f #operator_<(left: string, right: string)", lt)],
    examples: &[
        ("a < b", "true"),
        ("a < ab", "true"),
        ("'10' < '9'", "true"),
        ("a < 1", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn lt(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (left, right) = (args.str(0), args.str(1));
    scan(cx, left.len().min(right.len()))?;
    // UTF-8 preserves the order of code points.
    Ok(Value::Bool(left < right))
}
