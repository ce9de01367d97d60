use super::sets;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Returns the elements that are in exactly one of the two sets. The argument may be a map view. Fails with AttributeError if the receiver is one.",
    overloads: &[("m symmetricDifference(left: set, right: set)", symmetric_difference)],
    examples: &[
        ("set(1, 2).symmetricDifference(set(2, 3))", "[1, 3]"),
        ("set(a).symmetricDifference({a => 1}.keys())", "[]"),
        ("{a => 1}.keys().symmetricDifference(set(a))", "AttributeError"),
    ],
    purity: Purity::Pure,
};

fn symmetric_difference(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let left = sets::receiver(args.value(0), "symmetric_difference")?;
    let right = sets::operand(cx, args.value(1))?;
    cx.steps(left.len() as u64 + right.len() as u64)?;
    let only_left = left.iter_keys().filter(|key| !right.contains(key));
    let only_right = right.iter_keys().filter(|key| !left.contains(key));
    sets::of_keys(cx, only_left.chain(only_right))
}
