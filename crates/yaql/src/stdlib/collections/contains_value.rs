use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Reports whether a map has a value, by linear search.",
    overloads: &[("m containsValue(dict: map, value: any)", contains_value)],
    examples: &[
        ("{http => 80, https => 443}.containsValue(443)", "true"),
        ("{a => [1, 2]}.containsValue(1)", "false"),
        ("{}.containsValue($missing)", "false"),
    ],
    purity: Purity::Pure,
};

fn contains_value(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let map = args.map(0);
    cx.steps(map.len() as u64)?;
    let target = args.peek(1);
    Ok(Value::Bool(map.iter().any(|(_, value)| value.same_or_equal(target))))
}
