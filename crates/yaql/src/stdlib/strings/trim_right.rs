use crate::pytext::rstrip;

use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::{part, scan};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Removes the characters in `chars`, or whitespace if `chars` is null or omitted, from the end of a string. An empty `chars` removes nothing.",
    overloads: &[("m trimRight(string: string, chars: string? = null)", trim_right)],
    examples: &[("xaxx.trimRight(x)", r#""xa""#), ("' a  '.trimRight()", r#"" a""#)],
    purity: Purity::Pure,
};

fn trim_right(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let text = args.text(0);
    scan(cx, text.len())?;
    part(cx, &text, rstrip(&text, args.str_or_null(1)))
}
