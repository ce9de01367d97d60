//! Conversion of JSON to documents for expressions.

use stoker_model::{Json, JsonMap};
use stoker_yaql::Value;
use stoker_yaql::value::Map;

use crate::state::{Document, DocumentInterner};

/// A document that expressions can be evaluated over.
pub fn document(map: &JsonMap) -> Document {
    Document::new(&map_of(map))
}

/// Like [`document`], sharing equal parts with other documents.
pub fn intern_document(shared: &mut DocumentInterner, map: &JsonMap) -> Document {
    shared.document(&map_of(map))
}

pub fn value_of(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Value::Int(number),
            (None, Some(number)) => Value::int(number.into()),
            (None, None) => number.as_f64().map_or(Value::Null, Value::Float),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::tuple(items.iter().map(value_of).collect()),
        Json::Object(map) => map_of(map),
    }
}

fn map_of(map: &JsonMap) -> Value {
    Value::frozen_dict(Map::from_strings(map.iter().map(|(key, value)| (key.as_str(), value_of(value)))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stoker_yaql::json::{WriteOptions, write};

    use super::*;

    #[test]
    fn json_round_trips() {
        for json in [
            json!(null),
            json!({"a": [1, -2, 1.5, true, "x", null, {}], "b": {"c": []}}),
            json!(u64::MAX),
            json!(i64::MIN),
        ] {
            let text = write(&value_of(&json), &WriteOptions::default()).unwrap();
            assert_eq!(serde_json::from_str::<Json>(&text).unwrap(), json);
        }
    }
}
