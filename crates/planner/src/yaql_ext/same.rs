//! Equality of materialized values as data.

use stoker_yaql::Value;

/// Equality as data: a list parsed from a document equals a list built by an expression. The language itself
/// distinguishes the two types, which is never intended when states are compared.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    if a.equals(b) {
        return true;
    }
    // Only values that contain a list or map built by an expression can differ by type alone.
    (is_built(a) || is_built(b)) && have_same_parts(a, b)
}

/// Whether the value contains a list or map of the types that expressions build.
fn is_built(value: &Value) -> bool {
    match value {
        Value::List(_) | Value::Dict(_) => true,
        Value::Tuple(items) => items.meta().unhashable,
        Value::FrozenDict(map) => map.meta().unhashable,
        _ => false,
    }
}

fn have_same_parts(a: &Value, b: &Value) -> bool {
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
    fn parsed_and_built_lists_are_equal() {
        let (data, built) =
            (Value::tuple(vec![1_i64.into(), 2_i64.into()]), Value::list(vec![1_i64.into(), 2_i64.into()]));
        assert!(same(&data, &built) && same(&built, &data));
        let (data, built) = (Value::tuple(vec![data]), Value::tuple(vec![built]));
        assert!(same(&data, &built));
        assert!(!same(&data, &Value::list(vec![Value::list(vec![2_i64.into(), 1_i64.into()])])));
        assert!(!same(&Value::Null, &Value::list(Vec::new())));
    }

    #[test]
    fn only_numeric_types_compare_across_types() {
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
