use super::equality;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "common",
    doc: "Reports whether two values are equal. All values can be compared: integers, floats and booleans by value, strings by characters, sequences of the same kind, maps and sets by content, datetimes by instant. Lazy collections are equal only to themselves.",
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
