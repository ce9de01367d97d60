use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::scan;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Reports whether the left string is greater than or equal to the right one, compared by code points.",
    overloads: &[("f #operator_>=(left: string, right: string)", ge)],
    examples: &[("b >= a", "true"), ("a >= a", "true"), ("'Z' >= 'a'", "false")],
    purity: Purity::Pure,
};

fn ge(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (left, right) = (args.str(0), args.str(1));
    scan(cx, left.len().min(right.len()))?;
    // UTF-8 preserves the order of code points.
    Ok(Value::Bool(left >= right))
}
