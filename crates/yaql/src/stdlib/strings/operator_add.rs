use crate::stdlib::prelude::*;
use crate::stdlib::strings::concat::concat;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Concatenates strings.",
    overloads: &[("f #operator_+(args: string...)", concat)],
    examples: &[
        ("a + b", r#""ab""#),
        ("'x' + '' + 'y'", r#""xy""#),
        ("a + 1", "NoMatchingFunctionException"),
        ("a + null", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};
