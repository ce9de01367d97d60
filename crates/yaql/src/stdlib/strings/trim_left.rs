use crate::pytext::lstrip;

use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::{part, scan};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Removes the characters in `chars`, or whitespace if `chars` is null or omitted, from the start of a string. An empty `chars` removes nothing.",
    overloads: &[("m trimLeft(string: string, chars: string? = null)", trim_left)],
    examples: &[("xxax.trimLeft(x)", r#""ax""#), ("'  a '.trimLeft()", r#""a ""#)],
    purity: Purity::Pure,
};

fn trim_left(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let text = args.text(0);
    scan(cx, text.len())?;
    part(cx, &text, lstrip(&text, args.str_or_null(1)))
}
