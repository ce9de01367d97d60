use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::scan;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "The left string comes after the right one in the order of code points, in which capitals come before all small letters.",
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
    // The order of UTF-8 is that of code points.
    Ok(Value::Bool(left > right))
}
