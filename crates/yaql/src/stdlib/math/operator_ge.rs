use std::cmp::Ordering;

use super::arithmetic;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Reports whether the left number is greater than or equal to the right one. Integers and floats of any size are compared exactly. Always false for NaN.",
    overloads: &[("f #operator_>=(left: number, right: number)", ge)],
    examples: &[("3 >= 3.0", "true"), ("2 >= 3", "false"), ("float(nan) >= 0", "false")],
    purity: Purity::Pure,
};

fn ge(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    arithmetic::compare(cx, args, Ordering::is_ge)
}
