//! Membership tests. In Python YAQL, each type of collection has different semantics and errors.

use crate::stdlib::prelude::*;
use crate::value::KindSet;

/// Reports whether an element is in a collection. A lazy collection is consumed up to the first match.
pub(super) fn contains(cx: &mut Cx<'_>, collection: Value, item: &Value) -> Result<bool> {
    match &collection {
        Value::Tuple(seq) | Value::List(seq) => {
            cx.steps(seq.len() as u64)?;
            Ok(seq.iter().any(|element| element.same_or_equal(item)))
        }
        Value::FrozenDict(map) | Value::Dict(map) => Ok(map.get(item)?.is_some()),
        set if KindSet::SETS.has(set.kind()) => set_contains(cx, set, item),
        _ => {
            let mut elements = cx.iterate(collection)?;
            while let Some(element) = elements.next(cx)? {
                if element.same_or_equal(item) {
                    return Ok(true);
                }
            }
            Ok(false)
        }
    }
}

/// Reports whether an element is in a set or view. Fails if the element is unhashable.
fn set_contains(cx: &mut Cx<'_>, set: &Value, item: &Value) -> Result<bool> {
    match set {
        Value::Set(set) => Ok(set.contains(&Key::new(item.clone())?)),
        Value::Keys(view) => Ok(view.map.get(item)?.is_some()),
        Value::Items(view) => items_contain(cx, view, item),
        _ => Ok(false),
    }
}

/// Reports whether an entry is in an items view. The view of a frozen map accepts any iterable of two
/// elements, other views accept only tuples.
fn items_contain(cx: &mut Cx<'_>, view: &MapView, item: &Value) -> Result<bool> {
    let has_entry = |key: &Value, value: &Value| {
        let entry = view.map.get(key)?;
        Ok(entry.is_some_and(|entry| entry.same_or_equal(value)))
    };
    match item {
        Value::Tuple(pair) if pair.len() == 2 => has_entry(&pair[0], &pair[1]),
        _ if !view.frozen => Ok(false),
        _ => {
            let (key, value) = unpack(cx, item)?;
            has_entry(&key, &value)
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
                Error::kind(message).help("elements of `items()` are pairs of a key and a value"),
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

/// Reports whether every element of one set or view is in the other.
pub(super) fn is_subset(cx: &mut Cx<'_>, part: &Value, whole: &Value) -> Result<bool> {
    if let (Value::Set(part), Value::Set(whole)) = (part, whole) {
        cx.steps(part.len() as u64)?;
        return Ok(part.iter_keys().all(|key| whole.contains(key)));
    }
    let mut elements = cx.cursor(part.clone())?;
    while let Some(item) = elements.next(cx)? {
        if !set_contains(cx, whole, &item)? {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use crate::stdlib::testing::evaluate;

    #[test]
    fn membership_semantics_by_kind_of_collection() {
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
            assert_eq!(evaluate(expression), result, "{expression}");
        }
    }
}
