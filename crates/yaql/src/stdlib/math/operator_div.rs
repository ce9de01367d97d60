use super::arithmetic;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "The quotient of two numbers: of two integers the whole number below it, otherwise a float. Dividing by zero is an error, for floats too.",
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
