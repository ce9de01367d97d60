use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "boolean",
    doc: "Returns true if the operand is false, and false otherwise. Has lower precedence than comparisons: `not a = b` negates the comparison.",
    overloads: &[("f #unary_operator_not(arg: any)", not)],
    examples: &[
        ("not {}", "true"),
        ("not 3 = 4", "true"),
        ("not [].where($)", "false"),
        ("not $missing", "true"),
    ],
    purity: Purity::Pure,
};

fn not(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Bool(!args.peek(0).is_true()))
}
