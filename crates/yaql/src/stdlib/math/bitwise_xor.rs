use super::arithmetic;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "The bits that exactly one of the integers has. Negative numbers have endless ones in front. Of two booleans it is a boolean.",
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
