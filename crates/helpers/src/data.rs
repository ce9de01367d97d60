//! Conversion of YAML nodes to YAQL values.

use std::fmt::Display;
use std::sync::Arc;

use stoker_diagnostics::Diagnostic;
use stoker_yaml::{Node, NodeKind, Scalar, Span, Timestamp};
use stoker_yaql::Value;
use stoker_yaql::moment::DateTime;
use stoker_yaql::value::Map;

use crate::codes;

/// Converts a YAML node to a YAQL value, recursively: sequences become tuples, mappings become frozen maps.
///
/// A date becomes the start of that day, and a timestamp without a time zone is UTC, so that both can be compared with values of
/// the date functions of YAQL. A node without a value is an error at its position.
pub fn yaql_value(node: &Node) -> Result<Value, Box<Diagnostic>> {
    match &node.kind {
        NodeKind::Scalar(scalar) => scalar_value(scalar, node.span),
        NodeKind::Seq(items) => Ok(Value::tuple(items.iter().map(yaql_value).collect::<Result<_, _>>()?)),
        NodeKind::Map(entries) => {
            let mut builder = Map::builder();
            for (key, value) in entries.iter() {
                let inserted = builder.insert(yaql_value(key)?, yaql_value(value)?);
                inserted.map_err(|error| no_value(&error, key.span))?;
            }
            Ok(Value::frozen_dict(builder.build()))
        }
    }
}

fn scalar_value(scalar: &Scalar, span: Span) -> Result<Value, Box<Diagnostic>> {
    Ok(match scalar {
        Scalar::Null => Value::Null,
        Scalar::Bool(flag) => Value::Bool(*flag),
        Scalar::Int(number) => Value::Int(*number),
        Scalar::BigInt(number) => Value::int((**number).clone()),
        Scalar::Float(number) => Value::Float(*number),
        Scalar::Str(text) => Value::Str(text.clone()),
        Scalar::Timestamp(timestamp) => {
            let moment = DateTime::from_isoformat(&iso_text(timestamp));
            let moment = moment.map_err(|error| no_value(&error, span))?;
            Value::DateTime(Arc::new(moment))
        }
    })
}

fn no_value(error: &impl Display, span: Span) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(codes::SHAPE, error.to_string()).at(span))
}

fn iso_text(timestamp: &Timestamp) -> String {
    let date = timestamp.date;
    let day = format!("{:04}-{:02}-{:02}", date.year, date.month, date.day);
    let Some(time) = timestamp.time else { return format!("{day}T00:00:00+00:00") };
    let offset = time.offset_minutes.unwrap_or(0);
    let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.unsigned_abs());
    format!(
        "{day}T{:02}:{:02}:{:02}.{:06}{sign}{:02}:{:02}",
        time.hour,
        time.minute,
        time.second,
        time.microsecond,
        minutes / 60,
        minutes % 60
    )
}

#[cfg(test)]
mod tests {
    use stoker_yaml::{LoadLimits, load};
    use stoker_yaql::json::{WriteOptions, write};

    use super::*;

    fn json(text: &str) -> String {
        let loaded = load(text, &LoadLimits::default());
        let value = yaql_value(&loaded.documents[0].root).unwrap();
        write(&value, &WriteOptions::default()).unwrap()
    }

    #[test]
    fn plain_data_is_converted() {
        assert_eq!(json("a: [1, 2.5, yes, ~, x]"), r#"{"a": [1, 2.5, true, null, "x"]}"#);
        assert_eq!(json("123456789012345678901234567890"), "123456789012345678901234567890");
    }

    #[test]
    fn non_string_keys_are_preserved() {
        assert_eq!(json("{1: a}"), r#"{"$yaql": "dict", "items": [[1, "a"]]}"#);
    }

    #[test]
    fn dates_without_a_zone_are_utc() {
        let day = r#"{"$yaql": "datetime", "value": "2017-03-04T00:00:00+00:00"}"#;
        assert_eq!(json("2017-03-04"), day);
        let moment = r#"{"$yaql": "datetime", "value": "2017-03-04T10:00:00.250000-02:30"}"#;
        assert_eq!(json("2017-03-04 10:00:00.25 -2:30"), moment);
    }
}
