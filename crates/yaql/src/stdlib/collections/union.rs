use super::sets;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Everything that is in one set or the other. The argument may also be a view of a map; the receiver may not, that is an AttributeError.",
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
