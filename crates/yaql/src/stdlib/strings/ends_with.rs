use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Reports whether a string ends with any of the suffixes. False without suffixes, true for an empty suffix.",
    overloads: &[("m endsWith(string: string, suffixes: string...)", ends_with)],
    examples: &[
        ("'a.tar.gz'.endsWith('.zip', '.gz')", "true"),
        ("x.endsWith()", "false"),
        ("x.endsWith('')", "true"),
        ("x.endsWith(null)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn ends_with(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let suffixes = args.rest_values();
    let text = args.str(0);
    let matched = suffixes.iter().filter_map(Value::as_str).any(|suffix| text.ends_with(suffix));
    Ok(Value::Bool(matched))
}
