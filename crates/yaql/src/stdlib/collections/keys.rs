use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Returns the keys of a map, in insertion order. The result is a set-like view that cannot be indexed and cannot be the receiver of set functions; convert it with `toList()` or `toSet()` first.",
    overloads: &[("m keys(dict: map)", keys)],
    examples: &[
        ("{b => 1, a => 2}.keys()", "[\"b\", \"a\"]"),
        ("{b => 1, a => 2}.keys() = set(a, b)", "true"),
        ("{b => 1}.keys()[0]", "NoMatchingFunctionException"),
        ("[1].keys()", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn keys(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let map = args.value(0);
    let frozen = matches!(map, Value::FrozenDict(_));
    Ok(match map {
        Value::FrozenDict(map) | Value::Dict(map) => Value::Keys(MapView { map, frozen }),
        other => other,
    })
}
