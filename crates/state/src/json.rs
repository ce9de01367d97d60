//! Helpers for untyped JSON maps.

use stoker_model::{Json, JsonMap};

pub use stoker_model::merge_json as merge;

/// A copy of `base` with `over` merged into it.
pub fn merge_into_copy(base: &JsonMap, over: JsonMap) -> JsonMap {
    let mut result = base.clone();
    merge(&mut result, over);
    result
}

pub(crate) fn object(value: Json) -> JsonMap {
    match value {
        Json::Object(map) => map,
        _ => JsonMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn merge_merges_maps_and_replaces_other_values() {
        let base = object(json!({"a": {"x": 1, "y": [1, 2]}, "b": {"z": 1}, "c": 1}));
        let over = object(json!({"a": {"y": [3], "w": null}, "b": 2, "d": {"n": 1}}));
        let expected = json!({"a": {"x": 1, "y": [3], "w": null}, "b": 2, "c": 1, "d": {"n": 1}});
        assert_eq!(Json::Object(merge_into_copy(&base, over)), expected);
    }
}
