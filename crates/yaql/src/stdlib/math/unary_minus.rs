use super::arithmetic;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Returns the negated number. Has lower precedence than member access and calls: `-$.a.b()` negates the result of the call.",
    overloads: &[("f #unary_operator_-(op: number)", minus)],
    examples: &[("-(5)", "-5"), ("-(-2.5)", "2.5"), ("-'5'", "NoMatchingFunctionException")],
    purity: Purity::Pure,
};

fn minus(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    arithmetic::negate(cx, args.peek(0))
}
