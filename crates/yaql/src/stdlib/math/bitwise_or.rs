use super::arithmetic;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Returns the bitwise OR of two integers in two's complement with infinite sign extension. The result is a boolean if both arguments are.",
    overloads: &[("f bitwiseOr(left: int, right: int)", bitwise_or)],
    examples: &[
        ("bitwiseOr(22, 9)", "31"),
        ("bitwiseOr(-8, 3)", "-5"),
        ("bitwiseOr(false, false)", "false"),
        ("bitwiseOr('1', 2)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn bitwise_or(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    arithmetic::bitwise(cx, args, |a, b| a | b, |a, b| a | b, |a, b| a | b)
}
