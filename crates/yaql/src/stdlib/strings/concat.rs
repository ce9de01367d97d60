use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::reserve;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Concatenates strings. Convert other values with `str` first, or use `join`.",
    overloads: &[("f concat(args: string...)", concat)],
    examples: &[
        ("concat(node, '-', '1')", r#""node-1""#),
        ("concat('é')", r#""é""#),
        ("concat(a, 1)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

pub(super) fn concat(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let texts = args.rest().filter_map(Value::as_str);
    let bytes = texts.clone().map(str::len).fold(0, usize::saturating_add);
    reserve(cx, bytes)?;
    cx.scratch.clear();
    cx.scratch.extend(texts);
    Ok(Value::str(&*cx.scratch))
}
