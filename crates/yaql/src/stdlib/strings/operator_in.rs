use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::scan;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Reports whether the left string is a substring of the right one. The empty string is a substring of every string.",
    overloads: &[("f #operator_in(left: string, right: string)", in_)],
    examples: &[
        ("'at' in 'cat'", "true"),
        ("'' in ''", "true"),
        ("'ct' in 'cat'", "false"),
        ("1 in 'a1'", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn in_(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let text = args.str(1);
    scan(cx, text.len())?;
    Ok(Value::Bool(text.contains(args.str(0))))
}
