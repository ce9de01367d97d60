use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "boolean",
    doc: "Returns the left operand if it is true, otherwise the right operand. The right operand is evaluated only if the left one is false. The result is the operand itself, not a boolean, so `or` can supply a default.",
    overloads: &[("f #operator_or(left: lambda, right: lambda)", or)],
    examples: &[
        ("1 > 2 or 3 > 2", "true"),
        ("{a => 0}.get(a) or 80", "80"),
        ("[1] or nosuch()", "[1]"),
        ("null or ''", "\"\""),
    ],
    purity: Purity::Pure,
};

fn or(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let left = args.lambda(0).call0(cx)?;
    if left.is_true() { Ok(left) } else { args.lambda(1).call0(cx) }
}
