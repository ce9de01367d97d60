use crate::pytext::rsplit;

use crate::stdlib::prelude::*;
use crate::stdlib::strings::split::split_with;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Splits a string like `split`, but makes at most `maxSplits` splits from the right.",
    overloads: &[(
        "m rightSplit(string: string, separator: string? = null, maxSplits: int = -1)",
        right_split,
    )],
    examples: &[
        ("'a,b,c'.rightSplit(',', 1)", r#"["a,b", "c"]"#),
        ("'a b c'.rightSplit(null, 1)", r#"["a b", "c"]"#),
        ("' a b '.rightSplit()", r#"["a", "b"]"#),
        ("ab.rightSplit('')", "ValueError"),
    ],
    purity: Purity::Pure,
};

fn right_split(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    split_with(cx, args, rsplit)
}
