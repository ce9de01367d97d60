use super::equality;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "common",
    doc: "Whether two values are equal. Every pair of values can be compared: integers, floats and booleans by value, strings by their characters, sequences of one kind and all maps and sets by content, datetimes by the instant; lazy collections are equal to themselves only.",
    overloads: &[("f *equal(left: any, right: any)", equal)],
    examples: &[
        ("7 = 7.0", "true"),
        ("['7'] = [7]", "false"),
        ("{a => 1, b => [2]} = {b => [2], a => true}", "true"),
        ("null = false", "false"),
        ("float(nan) = float(nan)", "false"),
    ],
    purity: Purity::Pure,
};

fn equal(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    equality::equals(cx, args).map(Value::Bool)
}
