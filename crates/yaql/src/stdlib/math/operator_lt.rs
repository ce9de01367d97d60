use std::cmp::Ordering;

use super::arithmetic;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Reports whether the left number is less than the right one. Integers and floats of any size are compared exactly. Always false for NaN.",
    overloads: &[("f #operator_<(left: number, right: number)", lt)],
    examples: &[
        ("3 < 3.5", "true"),
        ("3 < 3", "false"),
        ("3 < '4'", "NoMatchingFunctionException"),
        ("false < 1", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn lt(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    arithmetic::compare(cx, args, Ordering::is_lt)
}
