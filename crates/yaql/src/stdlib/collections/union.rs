use super::sets;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Returns the elements that are in either set. The argument may be a map view. Fails with AttributeError if the receiver is one.",
    overloads: &[("m union(left: set, right: set)", union)],
    examples: &[
        ("set(1, 2).union(set(2, 3))", "[1, 2, 3]"),
        ("set(x).union({a => 1}.keys())", "[\"x\", \"a\"]"),
        ("{a => 1}.keys().union(set(x))", "AttributeError"),
        ("set(1).union([2])", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn union(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let left = sets::receiver(args.value(0), "union")?;
    let right = sets::operand(cx, args.value(1))?;
    sets::union(cx, &left, &right)
}
