use super::difference::difference;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "What is in the left set but not in the right one. The right side may also be a view of a map; the left side may not, that is an AttributeError.",
    overloads: &[("f #operator_-(left: set, right: set)", difference)],
    examples: &[
        ("set(1, 2, 3) - set(2)", "[1, 3]"),
        ("set(a, b) - {b => 1}.keys()", "[\"a\"]"),
        ("{a => 1}.keys() - set(a)", "AttributeError"),
        ("[1, 2] - [2]", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};
