use std::borrow::Cow;

use crate::pytext::upper;

use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::scan;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Converts a string to upper case with the full Unicode rules: the length may change.",
    overloads: &[("m toUpper(string: string)", to_upper)],
    examples: &[
        ("ab1.toUpper()", r#""AB1""#),
        ("'straße'.toUpper()", r#""STRASSE""#),
        ("5.toUpper()", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn to_upper(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let text = args.text(0);
    scan(cx, 4 * text.len())?;
    let changed = match upper(&text) {
        Cow::Owned(changed) => Some(changed),
        Cow::Borrowed(_) => None,
    };
    changed.map_or(Ok(Value::Str(text)), |changed| cx.text(changed))
}
