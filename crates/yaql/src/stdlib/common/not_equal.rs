use super::equality;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "common",
    doc: "Reports whether two values are not equal, the negation of `=`.",
    overloads: &[("f *not_equal(left: any, right: any)", not_equal)],
    examples: &[
        ("7 != 7.0", "false"),
        ("'7' != 7", "true"),
        ("[1, 2] != [2, 1]", "true"),
        ("null != null", "false"),
    ],
    purity: Purity::Pure,
};

fn not_equal(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    equality::equals(cx, args).map(|equal| Value::Bool(!equal))
}
