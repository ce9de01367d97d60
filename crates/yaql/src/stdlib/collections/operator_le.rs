use super::membership::is_subset;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Reports whether the left set is a subset of, or equal to, the right set. The operands may be map views.",
    overloads: &[("f #operator_<=(left: set, right: set)", is_less_or_equal)],
    examples: &[
        ("set(1, 2) <= set(2, 1)", "true"),
        ("set(1, 3) <= set(1, 2)", "false"),
        ("set(a) <= {a => 1, b => 2}.keys()", "true"),
        ("[] <= []", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn is_less_or_equal(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (left, right) = (args.peek(0), args.peek(1));
    let result = left.sized_len() <= right.sized_len() && is_subset(cx, left, right)?;
    Ok(Value::Bool(result))
}
