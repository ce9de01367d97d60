use super::membership::is_subset;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Reports whether the left set is a proper subset of the right set. The operands may be map views.",
    overloads: &[("f #operator_<(left: set, right: set)", is_less)],
    examples: &[
        ("set(1) < set(1, 2)", "true"),
        ("set(1, 2) < set(1, 2)", "false"),
        ("{a => 1}.keys() < set(a, b)", "true"),
        ("set(1) < [1, 2]", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn is_less(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (left, right) = (args.peek(0), args.peek(1));
    let result = left.sized_len() < right.sized_len() && is_subset(cx, left, right)?;
    Ok(Value::Bool(result))
}
