use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "regex",
    doc: "Reports whether a value is a pattern created by `regex`.",
    overloads: &[("f isRegex(value: any)", is_regex)],
    examples: &[("isRegex(regex(a))", "true"), ("isRegex(a)", "false")],
    purity: Purity::Pure,
};

fn is_regex(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Bool(matches!(args.peek(0), Value::Regex(_))))
}
