use super::arithmetic;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Returns the bitwise AND of two integers in two's complement with infinite sign extension. The result is a boolean if both arguments are.",
    overloads: &[("f bitwiseAnd(left: int, right: int)", bitwise_and)],
    examples: &[
        ("bitwiseAnd(22, 14)", "6"),
        ("bitwiseAnd(-2, 7)", "6"),
        ("bitwiseAnd(true, true)", "true"),
        ("bitwiseAnd(true, 6)", "0"),
        ("bitwiseAnd(1.0, 1)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn bitwise_and(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    arithmetic::bitwise(cx, args, |a, b| a & b, |a, b| a & b, |a, b| a & b)
}
