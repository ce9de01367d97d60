//! Decodes `$yaql` tags of the input and converts its containers to the requested types.

use std::sync::Arc;

use crate::error::{Error, ErrorClass, Result};
use crate::eval::iterator_of;
use crate::moment::{DateTime, TimeSpan};
use crate::value::{Map, Set, Value, number};

/// Types of value that arrays and objects of the input become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputStyle {
    /// Tuples and frozen maps.
    Converted,
    /// Lists and mutable maps, as Python YAQL sees them without input conversion.
    Unconverted,
}

/// Replaces tagged objects in parsed JSON by the values they encode.
pub fn decode(value: Value, style: InputStyle) -> Result<Value> {
    if style == InputStyle::Converted && !has_tags(&value) {
        return Ok(value);
    }
    match value {
        Value::Tuple(seq) => {
            let items = seq.iter().map(|item| decode(item.clone(), style)).collect::<Result<Vec<Value>>>()?;
            Ok(if style == InputStyle::Converted { Value::tuple(items) } else { Value::list(items) })
        }
        Value::FrozenDict(map) => match map.get_str("$yaql") {
            None | Some(Value::Null) => decode_map(&map, style),
            Some(tag) => decode_tag(tag.as_str().unwrap_or_default(), tag, &map, style),
        },
        scalar => Ok(scalar),
    }
}

fn has_tags(value: &Value) -> bool {
    match value {
        Value::Tuple(seq) => seq.iter().any(has_tags),
        Value::FrozenDict(map) => {
            map.get_str("$yaql").is_some() || map.iter().any(|(_, value)| has_tags(value))
        }
        _ => false,
    }
}

fn decode_map(map: &Arc<Map>, style: InputStyle) -> Result<Value> {
    let mut builder = Map::builder();
    for (key, value) in map.iter() {
        builder.insert(key.clone(), decode(value.clone(), style)?)?;
    }
    Ok(dict(builder.build(), style))
}

fn dict(map: Map, style: InputStyle) -> Value {
    if style == InputStyle::Converted { Value::frozen_dict(map) } else { Value::dict(map) }
}

fn decode_tag(tag: &str, tag_value: &Value, map: &Arc<Map>, style: InputStyle) -> Result<Value> {
    match tag {
        "datetime" => match field(map, "value")? {
            Value::Str(text) => Ok(Value::DateTime(Arc::new(DateTime::from_isoformat(text)?))),
            _ => Err(Box::new(Error::kind("fromisoformat: argument must be str"))),
        },
        "timespan" => decode_span(field(map, "us")?),
        "float" => decode_float(field(map, "value")?),
        "dict" => decode_pairs(&elements(field(map, "items")?)?, style),
        "set" => {
            let items = optional_items(map)?;
            // Python YAQL builds the set before it converts the elements, so they must be hashable as they
            // are.
            if let Some(kind) = items.iter().find_map(unhashable_kind) {
                return Err(Box::new(Error::kind(format!("unhashable type: '{kind}'"))));
            }
            let items = items.into_iter().map(|item| decode(item, style));
            Ok(Value::set(Set::from_values(items.collect::<Result<Vec<_>>>()?)?))
        }
        "tuple" => Ok(Value::tuple(decoded_items(map, style)?)),
        "iterator" => iterator_of(decoded_items(map, style)?),
        _ => {
            let tag_text = tag_value.to_repr(1000).unwrap_or_default();
            Err(Box::new(Error::value(format!("unknown tag {tag_text}"))))
        }
    }
}

/// Returns the type name of an input element that is unhashable or contains an unhashable element.
fn unhashable_kind(item: &Value) -> Option<&'static str> {
    match item {
        Value::Tuple(_) => Some("list"),
        Value::FrozenDict(map) => match map.get_str("$yaql").and_then(Value::as_str) {
            None | Some("dict") => Some("dict"),
            Some("set") => Some("set"),
            Some("tuple") => optional_items(map).ok()?.iter().find_map(unhashable_kind),
            Some(_) => None,
        },
        _ => None,
    }
}

fn field<'m>(map: &'m Map, name: &str) -> Result<&'m Value> {
    map.get_str(name).ok_or_else(|| Box::new(Error::new(ErrorClass::Key, format!("'{name}'"))))
}

fn decode_span(micros: &Value) -> Result<Value> {
    match micros {
        Value::Int(_) | Value::BigInt(_) | Value::Bool(_) => {
            Ok(Value::TimeSpan(TimeSpan::from_big_micros(&number::to_big(micros))?))
        }
        // One microsecond times the number, rounded half to even.
        Value::Float(number) => Ok(Value::TimeSpan(TimeSpan::from_micros(1)?.mul_float(*number)?)),
        other => {
            let kind = other.type_name();
            let message = format!("unsupported type for timedelta microseconds component: {kind}");
            Err(Box::new(Error::kind(message)))
        }
    }
}

fn decode_float(value: &Value) -> Result<Value> {
    match value {
        Value::Str(text) => Ok(Value::Float(crate::pytext::parse_float(text)?)),
        Value::Int(_) | Value::BigInt(_) | Value::Bool(_) | Value::Float(_) => {
            Ok(Value::Float(number::to_float(value)?))
        }
        other => {
            let message =
                format!("float() argument must be a string or a real number, not '{}'", other.type_name());
            Err(Box::new(Error::kind(message)))
        }
    }
}

fn decode_pairs(items: &[Value], style: InputStyle) -> Result<Value> {
    let mut builder = Map::builder();
    for item in items {
        let pair = elements(item)?;
        let [key, value] = &pair[..] else {
            let (short, length) = (pair.len() < 2, pair.len());
            return Err(Box::new(Error::value(if short {
                format!("not enough values to unpack (expected 2, got {length})")
            } else {
                "too many values to unpack (expected 2)".to_owned()
            })));
        };
        // Keys must be hashable, so arrays become tuples in either style.
        let key = decode(key.clone(), InputStyle::Converted)?;
        builder.insert(key, decode(value.clone(), style)?)?;
    }
    Ok(dict(builder.build(), style))
}

/// Returns the elements of any value that Python YAQL can iterate over.
fn elements(value: &Value) -> Result<Vec<Value>> {
    match value {
        Value::Tuple(seq) | Value::List(seq) => Ok(seq.to_vec()),
        Value::FrozenDict(map) | Value::Dict(map) => Ok(map.iter().map(|(key, _)| key.clone()).collect()),
        Value::Str(text) => Ok(text.chars().map(|letter| Value::str(letter.to_string())).collect()),
        other => Err(Box::new(Error::kind(format!("'{}' object is not iterable", other.type_name())))),
    }
}

fn optional_items(map: &Map) -> Result<Vec<Value>> {
    map.get_str("items").map_or(Ok(Vec::new()), elements)
}

fn decoded_items(map: &Map, style: InputStyle) -> Result<Vec<Value>> {
    optional_items(map)?.into_iter().map(|item| decode(item, style)).collect()
}
