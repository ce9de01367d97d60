use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::scan;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Reports whether the left string is less than or equal to the right one, compared by code points.",
    overloads: &[("f #operator_<=(left: string, right: string)", le)],
    examples: &[("a <= b", "true"), ("a <= a", "true"), ("ab <= a", "false")],
    purity: Purity::Pure,
};

fn le(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (left, right) = (args.str(0), args.str(1));
    scan(cx, left.len().min(right.len()))?;
    // UTF-8 preserves the order of code points.
    Ok(Value::Bool(left <= right))
}
