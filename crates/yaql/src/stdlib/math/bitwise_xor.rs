use super::arithmetic;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Returns the bitwise XOR of two integers in two's complement with infinite sign extension. The result is a boolean if both arguments are.",
    overloads: &[("f bitwiseXor(left: int, right: int)", bitwise_xor)],
    examples: &[
        ("bitwiseXor(22, 14)", "24"),
        ("bitwiseXor(-1, 5)", "-6"),
        ("bitwiseXor(true, false)", "true"),
        ("bitwiseXor(null, 2)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn bitwise_xor(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    arithmetic::bitwise(cx, args, |a, b| a ^ b, |a, b| a ^ b, |a, b| a ^ b)
}
