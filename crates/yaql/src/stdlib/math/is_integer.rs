use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Whether a value is an integer. Booleans and floats are none, even when they are whole.",
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
