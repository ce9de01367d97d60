use super::arithmetic;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Returns the sum of two numbers: an integer of any size if both are integers, otherwise a float. Booleans are not numbers.",
    overloads: &[("f #operator_+(left: number, right: number)", add)],
    examples: &[
        ("40 + 2", "42"),
        ("0.5 + 1", "1.5"),
        ("9223372036854775807 + 1", "9223372036854775808"),
        ("1 + true", "NoMatchingFunctionException"),
        ("1 + '1'", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn add(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    arithmetic::add(cx, args.peek(0), args.peek(1))
}
