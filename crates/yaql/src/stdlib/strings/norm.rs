use crate::pytext::strip;

use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::{part, scan};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Removes whitespace, or the characters in `chars`, from both ends of a string. Returns null if the result is empty or the string is null.",
    overloads: &[("fm norm(string: string?, chars: string? = null)", norm)],
    examples: &[
        ("' x '.norm()", r#""x""#),
        ("'  '.norm()", "null"),
        ("norm($none)", "null"),
        ("'--x-'.norm('-')", r#""x""#),
        ("norm(5)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn norm(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let Value::Str(text) = args.value(0) else { return Ok(Value::Null) };
    scan(cx, text.len())?;
    match strip(&text, args.str_or_null(1)) {
        "" => Ok(Value::Null),
        stripped => part(cx, &text, stripped),
    }
}
