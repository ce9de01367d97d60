use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Reports whether a string starts with any of the prefixes. False without prefixes, true for an empty prefix.",
    overloads: &[("m startsWith(string: string, prefixes: string...)", starts_with)],
    examples: &[
        ("'node-1'.startsWith(db, node)", "true"),
        ("x.startsWith()", "false"),
        ("x.startsWith('')", "true"),
        ("x.startsWith(1)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn starts_with(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let prefixes = args.rest_values();
    let text = args.str(0);
    let matched = prefixes.iter().filter_map(Value::as_str).any(|prefix| text.starts_with(prefix));
    Ok(Value::Bool(matched))
}
