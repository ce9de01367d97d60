use super::arithmetic;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Returns the difference of two numbers: an integer of any size if both are integers, otherwise a float.",
    overloads: &[("f #operator_-(left: number, right: number)", sub)],
    examples: &[("3 - 10", "-7"), ("3 - 0.5", "2.5"), ("1 - null", "NoMatchingFunctionException")],
    purity: Purity::Pure,
};

fn sub(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    arithmetic::sub(cx, args.peek(0), args.peek(1))
}
