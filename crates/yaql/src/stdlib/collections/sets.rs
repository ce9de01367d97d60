//! Helpers of the set functions.

use std::sync::Arc;

use crate::stdlib::prelude::*;
use crate::value::Set;

/// Returns the set to operate on. Map views match the parameter type but lack the methods of sets.
pub(super) fn receiver(value: Value, method: &str) -> Result<Arc<Set>> {
    match value {
        Value::Set(set) => Ok(set),
        view => {
            let message = format!("'{}' object has no attribute '{method}'", view.type_name());
            Err(Box::new(
                Error::new(ErrorClass::Attribute, message).help("convert the view to a set with `toSet()`"),
            ))
        }
    }
}

/// Returns a set of the elements of a set or view.
pub(super) fn operand(cx: &mut Cx<'_>, value: Value) -> Result<Arc<Set>> {
    let keys: Vec<Key> = match value {
        Value::Set(set) => return Ok(set),
        Value::Keys(view) => view.map.iter_keys().cloned().collect(),
        Value::Items(view) => {
            let pairs = (0..view.map.len()).filter_map(|at| view.map.pair(at));
            pairs.map(Key::new).collect::<Result<_>>()?
        }
        _ => Vec::new(),
    };
    cx.charge(64 * keys.len() as u64)?;
    Ok(Arc::new(Set::from_keys(keys)))
}

/// Creates a set of elements of other sets.
pub(super) fn of_keys<'k>(cx: &mut Cx<'_>, keys: impl Iterator<Item = &'k Key>) -> Result<Value> {
    cx.set(keys.map(|key| key.value().clone()))
}

pub(super) fn union(cx: &mut Cx<'_>, left: &Set, right: &Set) -> Result<Value> {
    of_keys(cx, left.iter_keys().chain(right.iter_keys()))
}

pub(super) fn difference(cx: &mut Cx<'_>, left: &Set, right: &Set) -> Result<Value> {
    cx.steps(left.len() as u64)?;
    of_keys(cx, left.iter_keys().filter(|key| !right.contains(key)))
}
