use super::cost;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Returns the bitwise complement of an integer, `-n - 1`.",
    overloads: &[("f bitwiseNot(arg: int)", bitwise_not)],
    examples: &[
        ("bitwiseNot(41)", "-42"),
        ("bitwiseNot(-1)", "0"),
        ("bitwiseNot(false)", "-1"),
        ("bitwiseNot(0.5)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn bitwise_not(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    match args.peek(0) {
        Value::BigInt(number) => {
            cost::room(cx, number.bits())?;
            Ok(Value::int(!&**number))
        }
        _ => Ok(Value::Int(!args.int(0))),
    }
}
