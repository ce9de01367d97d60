use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::scan;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "The left string comes before the right one in the order of code points; a beginning comes before what it begins.",
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
    // The order of UTF-8 is that of code points.
    Ok(Value::Bool(left < right))
}
