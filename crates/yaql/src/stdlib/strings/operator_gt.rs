use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::scan;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Reports whether the left string is greater than the right one, compared by code points. ASCII upper-case letters sort before all lower-case letters.",
    overloads: &[("f #operator_>(left: string, right: string)", gt)],
    examples: &[
        ("b > a", "true"),
        ("'Z' > 'a'", "false"),
        ("'é' > 'z'", "true"),
        ("a > 1", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn gt(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (left, right) = (args.str(0), args.str(1));
    scan(cx, left.len().min(right.len()))?;
    // UTF-8 preserves the order of code points.
    Ok(Value::Bool(left > right))
}
