use crate::stdlib::prelude::*;
use crate::syntax::BinaryOp;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Returns the lesser of two values, compared with `>`; the second if neither is greater. Null is less than every other value. Fails with NoMatchingFunctionException if the values cannot be compared.",
    overloads: &[("f min(a: any, b: any)", min)],
    examples: &[
        ("min(-3, 2.5)", "-3"),
        ("min('b', 'B')", r#""B""#),
        ("min(null, 0)", "null"),
        ("min(1, 1.0)", "1.0"),
        ("min(true, 1)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn min(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (a, b) = (args.value(0), args.value(1));
    let greater = cx.operator(BinaryOp::Gt, b.clone(), a.clone(), args.ctx)?;
    Ok(if greater.is_true() { a } else { b })
}
