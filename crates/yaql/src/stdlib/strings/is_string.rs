use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Reports whether a value is a string.",
    overloads: &[("f isString(arg: any)", is_string)],
    examples: &[("isString(x)", "true"), ("isString([x])", "false"), ("isString(null)", "false")],
    purity: Purity::Pure,
};

fn is_string(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Bool(args.str_or_null(0).is_some()))
}
