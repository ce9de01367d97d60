use std::cmp::Ordering;

use super::arithmetic;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Whether the left number is at most the right one. Integers and floats are compared exactly, whatever their size; nothing holds for nan.",
    overloads: &[("f #operator_<=(left: number, right: number)", le)],
    examples: &[("3 <= 3.0", "true"), ("4 <= 3", "false"), ("3 <= false", "NoMatchingFunctionException")],
    purity: Purity::Pure,
};

fn le(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    arithmetic::compare(cx, args, Ordering::is_le)
}
