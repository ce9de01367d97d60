use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Returns a copy of a map without the keys in a collection. Missing keys are ignored. Fails with TypeError if a key is unhashable.",
    overloads: &[("m deleteAll(dict: map, keys: iter)", delete_all)],
    examples: &[
        ("{a => 1, b => 2, c => 3}.deleteAll([a, c, z])", "{\"b\": 2}"),
        ("{a => 1}.deleteAll([])", "{\"a\": 1}"),
        ("{a => 1}.deleteAll([{}.delete()])", "TypeError"),
        ("{a => 1}.deleteAll(a)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn delete_all(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let map = args.map(0);
    let mut keys = cx.iterate(args.value(1))?;
    without(cx, &map, |cx| keys.next(cx))
}

/// Returns a copy of a map without some keys.
pub(super) fn without(
    cx: &mut Cx<'_>,
    map: &Map,
    mut next_key: impl FnMut(&mut Cx<'_>) -> Result<Option<Value>>,
) -> Result<Value> {
    let mut deleted = vec![false; map.len()];
    let mut remaining = map.len();
    while let Some(key) = next_key(cx)? {
        // As in Python YAQL, keys are not checked for hashability once the map is empty.
        if remaining == 0 {
            continue;
        }
        if let Some(deleted) = map.position(&key)?.and_then(|at| deleted.get_mut(at)) {
            remaining -= usize::from(!*deleted);
            *deleted = true;
        }
    }
    let mut builder = map.to_builder();
    if remaining < map.len() {
        builder.retain(|at| !deleted.get(at).copied().unwrap_or(false));
    }
    cx.dict(builder)
}

#[cfg(test)]
mod tests {
    use crate::stdlib::testing::evaluate;

    #[test]
    fn keys_are_not_checked_against_an_empty_map() {
        for (expression, result) in [
            ("{}.delete({}.keys())", "{}"),
            ("{a => 1}.delete({}.keys())", "TypeError"),
            ("{a => 1}.delete(a, {}.keys())", "{}"),
            ("{a => 1}.delete(a, a)", "{}"),
            ("{1 => a, 2 => b}.delete(1.0).len()", "1"),
            ("{a => 1}.deleteAll([{}].where($.nosuch))", "KeyError"),
        ] {
            assert_eq!(evaluate(expression), result, "{expression}");
        }
    }
}
