use super::nulls;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "common",
    doc: "Compares with null. Null is less than every other value and equal to itself.",
    overloads: &[
        ("f #operator_<=(left: any!, right: null)", nulls::always_false),
        ("f #operator_<=(left: null, right: any!)", nulls::always_true),
        ("f #operator_<=(left: null, right: null)", nulls::always_true),
    ],
    examples: &[("'' <= null", "false"), ("null <= [4]", "true"), ("null <= null", "true")],
    purity: Purity::Pure,
};
