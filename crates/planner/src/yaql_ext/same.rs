//! Whether two materialised values are equal as data.

use stoker_yaql::Value;

/// Equality of data: a list is a list, whether it stood in a document or was made by an expression. The language
/// itself tells the two apart, which nobody who compares states means.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    if a.equals(b) {
        return true;
    }
    // Only values that hold something made by an expression can differ in kind alone.
    (is_made(a) || is_made(b)) && same_parts(a, b)
}

/// Whether there is a list or map in it of the kind that expressions make.
fn is_made(value: &Value) -> bool {
    match value {
        Value::List(_) | Value::Dict(_) => true,
        Value::Tuple(items) => items.meta().unhashable,
        Value::FrozenDict(map) => map.meta().unhashable,
        _ => false,
    }
}

fn same_parts(a: &Value, b: &Value) -> bool {
    if let (Some(a), Some(b)) = (a.as_seq(), b.as_seq()) {
        return a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b));
    }
    if let (Some(a), Some(b)) = (a.as_map(), b.as_map()) {
        let has_same = |(key, value): (&Value, &Value)| match b.get(key) {
            Ok(Some(other)) => same(value, other),
            _ => false,
        };
        return a.len() == b.len() && a.iter().all(has_same);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_lists() {
        let (data, made) =
            (Value::tuple(vec![1_i64.into(), 2_i64.into()]), Value::list(vec![1_i64.into(), 2_i64.into()]));
        assert!(same(&data, &made) && same(&made, &data));
        let (data, made) = (Value::tuple(vec![data]), Value::tuple(vec![made]));
        assert!(same(&data, &made));
        assert!(!same(&data, &Value::list(vec![Value::list(vec![2_i64.into(), 1_i64.into()])])));
        assert!(!same(&Value::Null, &Value::list(Vec::new())));
    }

    #[test]
    fn numbers_are_numbers_and_nothing_else_mixes() {
        assert!(same(&1_i64.into(), &1.0.into()) && same(&1_i64.into(), &true.into()));
        let empties = [
            Value::Null,
            Value::from(""),
            Value::tuple(Vec::new()),
            Value::frozen_dict(stoker_yaql::value::Map::builder().build()),
        ];
        for (a_idx, a) in empties.iter().enumerate() {
            for (b_idx, b) in empties.iter().enumerate() {
                assert_eq!(same(a, b), a_idx == b_idx);
            }
        }
    }
}
