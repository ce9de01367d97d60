use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Returns the values of a map, in the order of its keys. The result is neither a list nor a set: it has no length and no index. Convert it with `toList()` to get them.",
    overloads: &[("m values(dict: map)", values)],
    examples: &[
        ("{b => 1, a => 2}.values()", "[1, 2]"),
        ("{b => 1, a => 1}.values().toList().len()", "2"),
        ("{b => 1}.values().len()", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn values(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let map = args.value(0);
    let frozen = matches!(map, Value::FrozenDict(_));
    Ok(match map {
        Value::FrozenDict(map) | Value::Dict(map) => {
            Value::Values(std::sync::Arc::new(MapView { map, frozen }))
        }
        other => other,
    })
}
