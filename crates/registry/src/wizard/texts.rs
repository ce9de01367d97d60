//! Replacement of translation keys in wizards.

use stoker_model::{Json, JsonMap};

use crate::labels::readable;

/// Keys with values that are not displayed.
const DATA_KEYS: &[&str] = &["bind", "component", "condition", "data", "regex", "type", "value"];

/// Replaces translation keys in labels, descriptions and messages by readable texts.
pub fn with_readable_texts(mut wizard: JsonMap) -> JsonMap {
    replace_in(&mut wizard);
    wizard
}

fn replace_in(map: &mut JsonMap) {
    for (_, value) in map.iter_mut().filter(|(key, _)| !DATA_KEYS.contains(&key.as_str())) {
        replace(value);
    }
}

fn replace(value: &mut Json) {
    match value {
        Json::String(text) => *text = readable(text).into_owned(),
        Json::Array(items) => items.iter_mut().for_each(replace),
        Json::Object(map) => replace_in(map),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}
