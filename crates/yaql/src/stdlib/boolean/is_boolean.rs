use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "boolean",
    doc: "Whether a value is `true` or `false` itself, and not merely something that counts as one of them.",
    overloads: &[("f isBoolean(value: any)", is_boolean)],
    examples: &[("isBoolean(2 > 3)", "true"), ("isBoolean(1)", "false"), ("isBoolean('true')", "false")],
    purity: Purity::Pure,
};

fn is_boolean(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Bool(matches!(args.peek(0), Value::Bool(_))))
}
