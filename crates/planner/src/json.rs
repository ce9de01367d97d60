//! Conversion between YAQL values and JSON.

use stoker_model::{Json, JsonMap};
use stoker_yaql::Value;
use stoker_yaql::value::Map;

/// A value that JSON cannot represent. The text is a noun phrase.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotJson {
    #[error("integer out of range")]
    Integer,
    #[error("NaN or infinite number")]
    Number,
    #[error("{0}")]
    Type(String),
    #[error("key of type {0}")]
    Key(String),
}

/// A result as JSON.
pub(crate) fn to_json(value: &Value) -> Result<Json, NotJson> {
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(flag) => Json::Bool(*flag),
        Value::Int(number) => Json::from(*number),
        Value::BigInt(number) => u64::try_from(&**number).map(Json::from).map_err(|_| NotJson::Integer)?,
        Value::Float(number) => serde_json_float(*number)?,
        Value::Str(text) => Json::from(&**text),
        Value::Tuple(items) | Value::List(items) => {
            Json::Array(items.iter().map(to_json).collect::<Result<_, _>>()?)
        }
        Value::Set(items) => Json::Array(items.iter().map(to_json).collect::<Result<_, _>>()?),
        Value::FrozenDict(map) | Value::Dict(map) => Json::Object(to_json_map(map)?),
        other => return Err(NotJson::Type(other.type_name().to_owned())),
    })
}

fn serde_json_float(number: f64) -> Result<Json, NotJson> {
    if number.is_finite() { Ok(Json::from(number)) } else { Err(NotJson::Number) }
}

fn to_json_map(map: &Map) -> Result<JsonMap, NotJson> {
    let entry = |(key, value): (&Value, &Value)| {
        let key = match key {
            Value::Str(text) => text.to_string(),
            Value::Int(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            Value::Null => "null".to_owned(),
            other => return Err(NotJson::Key(other.type_name().to_owned())),
        };
        Ok((key, to_json(value)?))
    };
    map.iter().map(entry).collect()
}

/// Replaces sets by lists, since JSON has no sets.
pub(crate) fn without_sets(value: Value) -> Value {
    match &value {
        Value::Set(items) => Value::list(items.iter().cloned().map(without_sets).collect()),
        Value::Tuple(items) | Value::List(items) if !items.meta().plain => {
            Value::list(items.iter().cloned().map(without_sets).collect())
        }
        Value::FrozenDict(map) | Value::Dict(map) if !map.meta().plain => {
            let mut builder = Map::builder();
            for (key, inner) in map.iter_keys().zip(map.iter().map(|(_, inner)| inner)) {
                builder.insert_key(key.clone(), without_sets(inner.clone()));
            }
            Value::dict(builder.build())
        }
        _ => value,
    }
}

/// Truth value of JSON data: null, `false`, zero and empty values are false.
pub(crate) fn is_true(value: &Json) -> bool {
    match value {
        Json::Null => false,
        Json::Bool(flag) => *flag,
        Json::Number(number) => number.as_f64() != Some(0.0),
        Json::String(text) => !text.is_empty(),
        Json::Array(items) => !items.is_empty(),
        Json::Object(map) => !map.is_empty(),
    }
}

/// Whether a value has more than `n_levels` nested levels.
pub(crate) fn is_deeper(value: &Json, n_levels: usize) -> bool {
    let mut inner: Box<dyn Iterator<Item = &Json>> = match value {
        Json::Array(items) => Box::new(items.iter()),
        Json::Object(map) => Box::new(map.values()),
        _ => return false,
    };
    n_levels == 0 || inner.any(|value| is_deeper(value, n_levels - 1))
}
