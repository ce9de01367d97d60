use super::arithmetic;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Returns the quotient of two numbers: rounded down to an integer if both are integers, otherwise a float. Fails with ZeroDivisionError if the divisor is zero, also for floats.",
    overloads: &[("f #operator_/(left: number, right: number)", div)],
    examples: &[
        ("17 / 5", "3"),
        ("-17 / 5", "-4"),
        ("17 / 5.0", "3.4"),
        ("17.0 / 0", "ZeroDivisionError"),
        ("17 / 0", "ZeroDivisionError"),
    ],
    purity: Purity::Pure,
};

fn div(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    arithmetic::div(cx, args.peek(0), args.peek(1))
}
