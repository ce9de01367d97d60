use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Returns the entries of a map as `[key, value]` pairs, in insertion order. The result is a set-like view that cannot be the receiver of set functions.",
    overloads: &[("m items(dict: map)", items)],
    examples: &[
        ("{b => 1, a => 2}.items()", "[[\"b\", 1], [\"a\", 2]]"),
        ("{b => 1, a => 2}.items().where($[1] > 1)", "[[\"a\", 2]]"),
        ("{}.items()", "[]"),
    ],
    purity: Purity::Pure,
};

fn items(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let map = args.value(0);
    let frozen = matches!(map, Value::FrozenDict(_));
    Ok(match map {
        Value::FrozenDict(map) | Value::Dict(map) => Value::Items(MapView { map, frozen }),
        other => other,
    })
}
