use std::cmp::Ordering;

use crate::stdlib::prelude::*;
use crate::value::number;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Returns -1 for a negative number, 1 for a positive number, and 0 for zero and NaN.",
    overloads: &[("f sign(num: number)", sign)],
    examples: &[
        ("sign(-7)", "-1"),
        ("sign(0.0)", "0"),
        ("sign(0.001)", "1"),
        ("sign('-')", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn sign(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let order = number::compare(args.peek(0), &Value::Int(0)).flatten().unwrap_or(Ordering::Equal);
    Ok(Value::Int(order as i64))
}
