use super::membership::is_subset;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Reports whether the left set is a superset of, or equal to, the right set. The operands may be map views.",
    overloads: &[("f #operator_>=(left: set, right: set)", is_greater_or_equal)],
    examples: &[
        ("set(1, 2) >= set(2)", "true"),
        ("set(1, 2) >= set(3)", "false"),
        ("{a => 1, b => 2}.items() >= set([a, 1])", "true"),
        ("{a => 1} >= {}", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn is_greater_or_equal(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (left, right) = (args.peek(0), args.peek(1));
    let result = left.sized_len() >= right.sized_len() && is_subset(cx, right, left)?;
    Ok(Value::Bool(result))
}
