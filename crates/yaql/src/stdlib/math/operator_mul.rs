use super::arithmetic;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Returns the product of two numbers: an integer of any size if both are integers, otherwise a float.",
    overloads: &[("f #operator_*(left: number, right: number)", mul)],
    examples: &[
        ("6 * -7", "-42"),
        ("3 * 0.5", "1.5"),
        ("99999999999 * 99999999999", "9999999999800000000001"),
        ("2 * false", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn mul(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    arithmetic::mul(cx, args.peek(0), args.peek(1))
}
