use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "boolean",
    doc: "The left value if it counts as false, else the right one, which is not evaluated before. The result is one of the operands as it stands, not a boolean.",
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
