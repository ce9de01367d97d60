use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Reports whether a value is an integer or a float. Booleans are not numbers.",
    overloads: &[("f isNumber(value: any)", is_number)],
    examples: &[
        ("isNumber(-3)", "true"),
        ("isNumber(3.5)", "true"),
        ("isNumber(true)", "false"),
        ("isNumber(null)", "false"),
    ],
    purity: Purity::Pure,
};

fn is_number(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Bool(matches!(args.peek(0), Value::Int(_) | Value::BigInt(_) | Value::Float(_))))
}
