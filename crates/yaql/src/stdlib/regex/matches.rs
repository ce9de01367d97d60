use crate::pyregex::Flags;

use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "regex",
    doc: "Reports whether a pattern matches anywhere in a string. The receiver is a pattern and the argument a string, or the receiver is a string and the argument a pattern as a string. Fails with re.error if the pattern is invalid.",
    overloads: &[
        ("m matches(regexp: regex, string: string)", matches),
        ("m matches(string: string, regexp: string)", matches_pattern),
    ],
    examples: &[
        (r"regex(`^\d+$`).matches('42')", "true"),
        (r"'n42'.matches(`\d`)", "true"),
        ("'n42'.matches('^4')", "false"),
        ("a.matches('[')", "re.error"),
        ("a.matches(regex(a))", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn matches(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let Some(regex) = args.regex(0) else { return Ok(Value::Null) };
    cx.is_match(&regex, args.str(1)).map(Value::Bool)
}

fn matches_pattern(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let pattern = args.text(1);
    let regex = cx.regex(&pattern, Flags::default())?;
    cx.is_match(&regex, args.str(0)).map(Value::Bool)
}
