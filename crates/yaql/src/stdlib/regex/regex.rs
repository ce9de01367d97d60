use crate::pyregex::Flags;

use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "regex",
    doc: "Compiles a pattern in Python syntax. `ignoreCase` ignores case, `multiLine` makes `^` and `$` match at line breaks too, and `dotAll` makes `.` match line breaks. Fails with re.error if the pattern is invalid.",
    overloads: &[(
        "f regex(pattern: string, ignoreCase: bool? = false, multiLine: bool? = false, dotAll: bool? = false)",
        regex,
    )],
    examples: &[
        ("regex('a.c').matches('xabcx')", "true"),
        ("regex('B', ignoreCase => true).matches(abc)", "true"),
        (r"regex('^b', multiLine => true).matches('a\nb')", "true"),
        ("regex('(')", "re.error"),
        ("regex(a, 1)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn regex(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let pattern = args.text(0);
    let flags =
        Flags { ignore_case: args.bool(1), multi_line: args.bool(2), dot_all: args.bool(3), unicode: true };
    cx.regex(&pattern, flags).map(Value::Regex)
}
