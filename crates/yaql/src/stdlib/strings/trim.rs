use crate::pytext::strip;

use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::{part, scan};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Removes the characters in `chars`, or whitespace if `chars` is null or omitted, from both ends of a string. An empty `chars` removes nothing.",
    overloads: &[("m trim(string: string, chars: string? = null)", trim)],
    examples: &[
        ("' q  '.trim()", r#""q""#),
        ("xyax.trim(xy)", r#""a""#),
        ("' a '.trim('')", r#"" a ""#),
        (r"'\u00a0a'.trim(null)", r#""a""#),
        ("a.trim(1)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn trim(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let text = args.text(0);
    scan(cx, text.len())?;
    part(cx, &text, strip(&text, args.str_or_null(1)))
}
