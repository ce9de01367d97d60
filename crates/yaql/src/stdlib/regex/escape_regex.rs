use crate::pyregex::escape;

use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::scan;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "regex",
    doc: "Escapes a string so that, as a pattern, it matches exactly that string. Special characters and ASCII whitespace are preceded by a backslash.",
    overloads: &[("f escapeRegex(string: string)", escape_regex)],
    examples: &[
        ("escapeRegex('a.b (c)')", r#""a\\.b\\ \\(c\\)""#),
        ("escapeRegex('a_b/é')", r#""a_b/é""#),
        ("'a+b' =~ escapeRegex('a+')", "true"),
        ("escapeRegex(5)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn escape_regex(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let text = args.str(0);
    scan(cx, 4 * text.len())?;
    cx.text(escape(text))
}
