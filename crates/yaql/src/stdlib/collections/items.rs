use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "The entries of a map as pairs of key and value, in the order in which the keys came into it. The result counts as a set, but cannot be the receiver of set functions.",
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
