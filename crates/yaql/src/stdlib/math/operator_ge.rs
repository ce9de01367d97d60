use std::cmp::Ordering;

use super::arithmetic;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Whether the left number is at least the right one. Integers and floats are compared exactly, whatever their size; nothing holds for nan.",
    overloads: &[("f #operator_>=(left: number, right: number)", ge)],
    examples: &[("3 >= 3.0", "true"), ("2 >= 3", "false"), ("float(nan) >= 0", "false")],
    purity: Purity::Pure,
};

fn ge(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    arithmetic::compare(cx, args, Ordering::is_ge)
}
