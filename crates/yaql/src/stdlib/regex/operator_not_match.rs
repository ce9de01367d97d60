use crate::pyregex::Flags;

use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "regex",
    doc: "Reports whether the right operand, a pattern as a string or regex, does not match anywhere in the left operand. Fails with re.error if the pattern is invalid.",
    overloads: &[
        ("f #operator_!~(string: string, pattern: string)", matches_not_pattern),
        ("f #operator_!~(string: string, regexp: regex)", matches_not),
    ],
    examples: &[("'node-7' !~ db", "true"), ("x !~ regex(x)", "false"), ("x !~ '*'", "re.error")],
    purity: Purity::Pure,
};

fn matches_not(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let Some(regex) = args.regex(1) else { return Ok(Value::Null) };
    cx.is_match(&regex, args.str(0)).map(|matched| Value::Bool(!matched))
}

fn matches_not_pattern(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let pattern = args.text(1);
    let regex = cx.regex(&pattern, Flags::default())?;
    cx.is_match(&regex, args.str(0)).map(|matched| Value::Bool(!matched))
}
