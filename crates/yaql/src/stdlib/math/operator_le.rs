use std::cmp::Ordering;

use super::arithmetic;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Reports whether the left number is less than or equal to the right one. Integers and floats of any size are compared exactly. Always false for NaN.",
    overloads: &[("f #operator_<=(left: number, right: number)", le)],
    examples: &[("3 <= 3.0", "true"), ("4 <= 3", "false"), ("3 <= false", "NoMatchingFunctionException")],
    purity: Purity::Pure,
};

fn le(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    arithmetic::compare(cx, args, Ordering::is_le)
}
