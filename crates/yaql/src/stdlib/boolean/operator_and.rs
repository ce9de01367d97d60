use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "boolean",
    doc: "Returns the left operand if it is false, otherwise the right operand. The right operand is evaluated only if the left one is true. The result is the operand itself, not a boolean.",
    overloads: &[("f #operator_and(left: lambda, right: lambda)", and)],
    examples: &[
        ("2 > 1 and 3 > 2", "true"),
        ("'' and nosuch()", "\"\""),
        ("[7] and {a => 1}", "{\"a\": 1}"),
        ("[].where($) and 5", "5"),
    ],
    purity: Purity::Pure,
};

fn and(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let left = args.lambda(0).call0(cx)?;
    if left.is_true() { args.lambda(1).call0(cx) } else { Ok(left) }
}
