use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Reports whether a value is an integer. Booleans and floats are not, even if they have an integer value.",
    overloads: &[("f isInteger(value: any)", is_integer)],
    examples: &[
        ("isInteger(-3)", "true"),
        ("isInteger(3.0)", "false"),
        ("isInteger(true)", "false"),
        ("isInteger('3')", "false"),
    ],
    purity: Purity::Pure,
};

fn is_integer(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Bool(matches!(args.peek(0), Value::Int(_) | Value::BigInt(_))))
}
