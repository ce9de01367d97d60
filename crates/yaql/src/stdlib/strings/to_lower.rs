use std::borrow::Cow;

use crate::pytext::lower;

use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::scan;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Converts a string to lower case with the full Unicode rules: the length may change, and a sigma at the end of a word becomes a final sigma.",
    overloads: &[("m toLower(string: string)", to_lower)],
    examples: &[
        ("'MiXeD 42'.toLower()", r#""mixed 42""#),
        ("'ΑΣ'.toLower()", r#""ας""#),
        ("toLower(A)", "NoFunctionRegisteredException"),
    ],
    purity: Purity::Pure,
};

fn to_lower(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let text = args.text(0);
    scan(cx, 4 * text.len())?;
    let changed = match lower(&text) {
        Cow::Owned(changed) => Some(changed),
        Cow::Borrowed(_) => None,
    };
    changed.map_or(Ok(Value::Str(text)), |changed| cx.text(changed))
}
