use crate::pytext::strip;

use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::scan;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Reports whether a string is null or consists only of whitespace, or only of the characters in `chars`. If `trim` is false, only null and strings without characters are empty. Collections are not accepted; compare their length.",
    overloads: &[("fm isEmpty(string: string?, trim: bool = true, chars: string? = null)", is_empty)],
    examples: &[
        ("'  '.isEmpty()", "true"),
        ("'  '.isEmpty(false)", "false"),
        ("isEmpty($none)", "true"),
        ("'--'.isEmpty(chars => '-')", "true"),
        ("isEmpty([])", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn is_empty(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let Some(text) = args.str_or_null(0) else { return Ok(Value::Bool(true)) };
    if !args.bool(1) {
        return Ok(Value::Bool(text.is_empty()));
    }
    scan(cx, text.len())?;
    Ok(Value::Bool(strip(text, args.str_or_null(2)).is_empty()))
}
