use super::sets;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Returns the elements of the receiver that are not in the argument, like `-`. The argument may be a map view. Fails with AttributeError if the receiver is one.",
    overloads: &[("m difference(left: set, right: set)", difference)],
    examples: &[
        ("set(1, 2, 3).difference(set(2, 9))", "[1, 3]"),
        ("set(a, b).difference({a => 1}.keys())", "[\"b\"]"),
        ("{a => 1}.keys().difference(set(a))", "AttributeError"),
        ("set(1).difference([1])", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

pub(super) fn difference(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let left = sets::receiver(args.value(0), "difference")?;
    let right = sets::operand(cx, args.value(1))?;
    sets::difference(cx, &left, &right)
}
