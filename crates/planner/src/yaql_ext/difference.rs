//! The difference between two values, one level deep, as `added` and `deleted` return it.

use stoker_yaql::eval::Cx;
use stoker_yaql::value::{Map, Set};
use stoker_yaql::{Result, Value};

use super::same::same;
use super::sequence::unmatched;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Added,
    Deleted,
}

/// The parts of one value that the other lacks or has with a different value.
pub(crate) fn difference(cx: &mut Cx<'_>, old: &Value, new: &Value, side: Side) -> Result<Value> {
    let (this, other) = match side {
        Side::Added => (new, old),
        Side::Deleted => (old, new),
    };
    if let (Some(this), Some(other)) = (this.as_map(), other.as_map()) {
        return entry_difference(cx, this, other);
    }
    if let (Some(old), Some(new)) = (old.as_seq(), new.as_seq()) {
        return item_difference(cx, old, new, side);
    }
    match (this, other) {
        (Value::Str(_), Value::Str(_)) => item_difference(cx, &lines(old), &lines(new), side),
        (Value::Set(this), Value::Set(other)) => element_difference(cx, this, other),
        _ if same(this, other) && this.kind() == other.kind() => Ok(Value::Null),
        _ => Ok(this.clone()),
    }
}

fn entry_difference(cx: &mut Cx<'_>, this: &Map, other: &Map) -> Result<Value> {
    cx.steps(this.len() as u64)?;
    let mut builder = Map::builder();
    for (key, (name, value)) in this.iter_keys().zip(this.iter()) {
        if !matches!(other.get(name), Ok(Some(other_value)) if same(value, other_value)) {
            builder.insert_key(key.clone(), value.clone());
        }
    }
    cx.frozen_dict(builder)
}

fn item_difference(cx: &mut Cx<'_>, old: &[Value], new: &[Value], side: Side) -> Result<Value> {
    let (from_old, from_new) = unmatched(cx, old, new)?;
    let (items, indices) = match side {
        Side::Added => (new, from_new),
        Side::Deleted => (old, from_old),
    };
    cx.tuple(indices.into_iter().map(|item_idx| items[item_idx].clone()).collect())
}

fn element_difference(cx: &mut Cx<'_>, this: &Set, other: &Set) -> Result<Value> {
    cx.steps(this.len() as u64)?;
    let is_in_other = |item: &Value| other.iter().any(|other_value| other_value.same_or_equal(item));
    cx.set(this.iter().filter(|item| !is_in_other(item)).cloned().collect::<Vec<_>>())
}

fn lines(text: &Value) -> Vec<Value> {
    text.as_str().unwrap_or_default().lines().map(Value::from).collect()
}
