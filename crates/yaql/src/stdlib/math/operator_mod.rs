use super::arithmetic;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Returns the remainder of a division, with the sign of the divisor. Fails with ZeroDivisionError if the divisor is zero.",
    overloads: &[("f #operator_mod(left: number, right: number)", modulo)],
    examples: &[
        ("17 mod 5", "2"),
        ("-17 mod 5", "3"),
        ("17 mod -5", "-3"),
        ("5.5 mod 2", "1.5"),
        ("5 mod 0", "ZeroDivisionError"),
    ],
    purity: Purity::Pure,
};

fn modulo(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    arithmetic::modulo(cx, args.peek(0), args.peek(1))
}
