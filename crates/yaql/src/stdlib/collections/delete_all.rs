use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "A copy of a map without the keys that a collection holds; those it does not have do not matter. A key that cannot be hashed is a TypeError.",
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

/// A copy of a map without some keys.
pub(super) fn without(
    cx: &mut Cx<'_>,
    map: &Map,
    mut next_key: impl FnMut(&mut Cx<'_>) -> Result<Option<Value>>,
) -> Result<Value> {
    let mut gone = vec![false; map.len()];
    let mut left = map.len();
    while let Some(key) = next_key(cx)? {
        // Nothing is looked up in an empty map, so there any key will do.
        if left == 0 {
            continue;
        }
        if let Some(gone) = map.position(&key)?.and_then(|at| gone.get_mut(at)) {
            left -= usize::from(!*gone);
            *gone = true;
        }
    }
    let mut builder = map.to_builder();
    if left < map.len() {
        builder.retain(|at| !gone.get(at).copied().unwrap_or(false));
    }
    cx.dict(builder)
}

#[cfg(test)]
mod tests {
    use crate::stdlib::testing::answer;

    #[test]
    fn nothing_is_looked_up_in_an_empty_map() {
        for (expression, result) in [
            ("{}.delete({}.keys())", "{}"),
            ("{a => 1}.delete({}.keys())", "TypeError"),
            ("{a => 1}.delete(a, {}.keys())", "{}"),
            ("{a => 1}.delete(a, a)", "{}"),
            ("{1 => a, 2 => b}.delete(1.0).len()", "1"),
            ("{a => 1}.deleteAll([{}].where($.nosuch))", "KeyError"),
        ] {
            assert_eq!(answer(expression), result, "{expression}");
        }
    }
}
