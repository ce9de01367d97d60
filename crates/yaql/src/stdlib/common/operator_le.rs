use super::nulls;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "common",
    doc: "Null as an operand of `<=`: it is less than every other value and equal to itself.",
    overloads: &[
        ("f #operator_<=(left: any!, right: null)", nulls::no),
        ("f #operator_<=(left: null, right: any!)", nulls::yes),
        ("f #operator_<=(left: null, right: null)", nulls::yes),
    ],
    examples: &[("'' <= null", "false"), ("null <= [4]", "true"), ("null <= null", "true")],
    purity: Purity::Pure,
};
