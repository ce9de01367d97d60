use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "boolean",
    doc: "Reports whether a value is `true` or `false`. Other values are not booleans, even if they convert to one.",
    overloads: &[("f isBoolean(value: any)", is_boolean)],
    examples: &[("isBoolean(2 > 3)", "true"), ("isBoolean(1)", "false"), ("isBoolean('true')", "false")],
    purity: Purity::Pure,
};

fn is_boolean(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Bool(matches!(args.peek(0), Value::Bool(_))))
}
