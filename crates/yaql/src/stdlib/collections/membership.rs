//! Membership. Every kind of collection has its own way to answer, and its own way to fail.

use crate::stdlib::prelude::*;
use crate::value::KindSet;

/// Whether an element is in a collection; a lazy one is walked up to the first hit.
pub(super) fn contains(cx: &mut Cx<'_>, collection: Value, item: &Value) -> Result<bool> {
    match &collection {
        Value::Tuple(seq) | Value::List(seq) => {
            cx.steps(seq.len() as u64)?;
            Ok(seq.iter().any(|known| known.same_or_equal(item)))
        }
        Value::FrozenDict(map) | Value::Dict(map) => Ok(map.get(item)?.is_some()),
        set if KindSet::SETS.has(set.kind()) => set_contains(cx, set, item),
        _ => {
            let mut walk = cx.iterate(collection)?;
            while let Some(known) = walk.next(cx)? {
                if known.same_or_equal(item) {
                    return Ok(true);
                }
            }
            Ok(false)
        }
    }
}

/// Whether an element is in a set or a view; by hash, so it has to have one.
fn set_contains(cx: &mut Cx<'_>, set: &Value, item: &Value) -> Result<bool> {
    match set {
        Value::Set(set) => Ok(set.contains(&Key::new(item.clone())?)),
        Value::Keys(view) => Ok(view.map.get(item)?.is_some()),
        Value::Items(view) => items_contain(cx, view, item),
        _ => Ok(false),
    }
}

/// Items of a literal map take whatever falls apart into two, those of other maps only tuples.
fn items_contain(cx: &mut Cx<'_>, view: &MapView, item: &Value) -> Result<bool> {
    let found = |key: &Value, value: &Value| {
        let known = view.map.get(key)?;
        Ok(known.is_some_and(|known| known.same_or_equal(value)))
    };
    match item {
        Value::Tuple(pair) if pair.len() == 2 => found(&pair[0], &pair[1]),
        _ if !view.frozen => Ok(false),
        _ => {
            let (key, value) = unpack(cx, item)?;
            found(&key, &value)
        }
    }
}

fn unpack(cx: &mut Cx<'_>, item: &Value) -> Result<(Value, Value)> {
    let mut parts = match cx.cursor(item.clone()) {
        Ok(parts) => parts,
        Err(error) if error.class == ErrorClass::Attribute => return Err(error),
        Err(_) => {
            let message = format!("cannot unpack non-iterable {} object", item.type_name());
            return Err(Box::new(
                Error::kind(message).help("elements of items() are pairs of key and value"),
            ));
        }
    };
    let too_few =
        |got| Box::new(Error::value(format!("not enough values to unpack (expected 2, got {got})")));
    let key = parts.next(cx)?.ok_or_else(|| too_few(0))?;
    let value = parts.next(cx)?.ok_or_else(|| too_few(1))?;
    if parts.next(cx)?.is_some() {
        return Err(Box::new(Error::value("too many values to unpack (expected 2)")));
    }
    Ok((key, value))
}

/// Whether every element of one set or view is in the other.
pub(super) fn is_subset(cx: &mut Cx<'_>, part: &Value, whole: &Value) -> Result<bool> {
    if let (Value::Set(part), Value::Set(whole)) = (part, whole) {
        cx.steps(part.len() as u64)?;
        return Ok(part.iter_keys().all(|key| whole.contains(key)));
    }
    let mut walk = cx.cursor(part.clone())?;
    while let Some(item) = walk.next(cx)? {
        if !set_contains(cx, whole, &item)? {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use crate::stdlib::testing::answer;

    #[test]
    fn every_kind_of_collection_has_its_own_way() {
        for (expression, result) in [
            ("ab in {a => b}.items()", "true"),
            ("abc in {a => b}.items()", "ValueError"),
            ("a in {a => b}.items()", "ValueError"),
            ("[] in {a => b}.items()", "ValueError"),
            ("null in {a => b}.items()", "TypeError"),
            ("{a => 1, b => 2} in {a => b}.items()", "true"),
            ("7 in {a => b}.delete().items()", "false"),
            ("ab in {a => b}.delete().items()", "false"),
            ("[a, b] in {a => b}.delete().items()", "true"),
            ("[{}.keys(), 1] in {a => b}.delete().items()", "TypeError"),
            ("{}.keys() in set(1)", "TypeError"),
            ("{}.keys() in {a => 1}.keys()", "TypeError"),
            ("{}.keys() in [set()]", "true"),
            ("set(1) <= {a => 1}.items()", "TypeError"),
            ("set(1) < {a => 1}.items()", "false"),
            ("{ab => 1}.keys() <= {a => b}.items()", "true"),
            ("{a => {}.keys()}.items() <= set(1)", "TypeError"),
            ("2 in [1, 2].where(true)", "true"),
        ] {
            assert_eq!(answer(expression), result, "{expression}");
        }
    }
}
