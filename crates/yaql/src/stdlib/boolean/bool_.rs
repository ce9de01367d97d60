use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "boolean",
    doc: "Converts a value to a boolean. Null, false, zero, the empty string and empty lists, maps, sets and map views are false. All other values are true, including every lazy collection, even if it has no elements.",
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
