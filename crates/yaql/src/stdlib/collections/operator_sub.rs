use super::difference::difference;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Returns the elements of the left set that are not in the right set. The right operand may be a map view. Fails with AttributeError if the left operand is one.",
    overloads: &[("f #operator_-(left: set, right: set)", difference)],
    examples: &[
        ("set(1, 2, 3) - set(2)", "[1, 3]"),
        ("set(a, b) - {b => 1}.keys()", "[\"a\"]"),
        ("{a => 1}.keys() - set(a)", "AttributeError"),
        ("[1, 2] - [2]", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};
