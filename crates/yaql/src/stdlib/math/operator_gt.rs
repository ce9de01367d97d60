use std::cmp::Ordering;

use super::arithmetic;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Reports whether the left number is greater than the right one. Integers and floats of any size are compared exactly. Always false for NaN.",
    overloads: &[("f #operator_>(left: number, right: number)", gt)],
    examples: &[
        ("3 > 2.5", "true"),
        ("-1 > 0", "false"),
        ("18014398509481985 > 18014398509481984.0", "true"),
        ("3 > x", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn gt(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    arithmetic::compare(cx, args, Ordering::is_gt)
}
