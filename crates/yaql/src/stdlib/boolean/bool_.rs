use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "boolean",
    doc: "Whether a value counts as true. False are null, false, zero, the empty string and empty lists, maps, sets and views of maps. Everything else is true, every lazy collection included, even one that would turn out to be empty.",
    overloads: &[("f bool(value: any)", bool_)],
    examples: &[
        ("bool(0.0)", "false"),
        ("bool('no')", "true"),
        ("[null, '', [], {}, set()].where(bool($))", "[]"),
        ("bool([].where(true))", "true"),
        ("bool()", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn bool_(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Bool(args.peek(0).is_true()))
}
