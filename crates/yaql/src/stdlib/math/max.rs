use crate::stdlib::prelude::*;
use crate::syntax::BinaryOp;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Returns the greater of two values, compared with `>`; the first if neither is greater. Null is less than every other value. Fails with NoMatchingFunctionException if the values cannot be compared.",
    overloads: &[("f max(a: any, b: any)", max)],
    examples: &[
        ("max(-3, 2.5)", "2.5"),
        ("max('b', 'B')", r#""b""#),
        ("max(null, 0)", "0"),
        ("max(1, 1.0)", "1"),
        ("max(1, one)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn max(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (a, b) = (args.value(0), args.value(1));
    let greater = cx.operator(BinaryOp::Gt, b.clone(), a.clone(), args.ctx)?;
    Ok(if greater.is_true() { b } else { a })
}
