use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "boolean",
    doc: "The left value if it counts as true, else the right one, which is not evaluated before. The result is one of the operands as it stands, not a boolean, which makes it handy for defaults.",
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
