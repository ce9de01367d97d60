//! Canonical serialization of values, for comparison through sets instead of quadratic searches.

use stoker_model::Json;

/// Sorts map keys. `1`, `"1"` and `1.0` are different.
pub(super) fn canonical(value: &Json) -> String {
    match value {
        Json::Object(map) => {
            let mut entries: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{}:{}", Json::from(key.as_str()), canonical(value)))
                .collect();
            entries.sort();
            format!("{{{}}}", entries.join(","))
        }
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        scalar => scalar.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn canonical_form_is_equal_exactly_for_equal_values() {
        assert_eq!(
            canonical(&json!({"b": [1, {"d": 1, "c": 2}], "a": 1})),
            canonical(&json!({"a": 1, "b": [1, {"c": 2, "d": 1}]}))
        );
        let different = [
            json!(1),
            json!("1"),
            json!(1.0),
            json!(true),
            json!([1]),
            json!({"1": 1}),
            json!("[1]"),
            json!(null),
        ];
        for (idx, one) in different.iter().enumerate() {
            for other in &different[idx + 1..] {
                assert_ne!(canonical(one), canonical(other));
            }
        }
    }
}
