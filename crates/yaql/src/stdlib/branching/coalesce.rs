use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "branching",
    doc: "Returns the first argument that is not null, or null if there is none. Later arguments are not evaluated. Zero, false and empty values are not null and are returned.",
    overloads: &[("f coalesce(args: lambda...)", coalesce)],
    examples: &[
        ("coalesce($missing, '', x)", "\"\""),
        ("coalesce({a => 5}.get(b), 7, nosuch())", "7"),
        ("coalesce()", "null"),
    ],
    purity: Purity::Pure,
};

fn coalesce(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    for lambda in args.rest_lambdas() {
        let value = lambda.call0(cx)?;
        if !value.is_null() {
            return Ok(value);
        }
    }
    Ok(Value::Null)
}
