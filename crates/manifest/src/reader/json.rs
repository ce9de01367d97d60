//! Free-form parts of a document, converted to JSON without locations.

use stoker_diagnostics::Diagnostics;
use stoker_model::{Json, JsonMap};
use stoker_yaml::{BigInt, Node, NodeKind, Scalar};

use super::fields::key_text;
use super::report_wrong_type;
use crate::codes;

/// Reads any value that JSON can represent. Dates become their source text.
///
/// Converts a node to JSON. The nesting depth is bounded by the limits of the loader.
pub fn json(node: &Node, problems: &mut Diagnostics) -> Option<Json> {
    match &node.kind {
        NodeKind::Scalar(scalar) => scalar_json(scalar, node, problems),
        NodeKind::Seq(_) => json_list(node, problems).map(Json::Array),
        NodeKind::Map(_) => json_map(node, problems).map(Json::Object),
    }
}

pub fn json_list(node: &Node, problems: &mut Diagnostics) -> Option<Vec<Json>> {
    super::list_of(json)(node, problems)
}

pub fn json_map(node: &Node, problems: &mut Diagnostics) -> Option<JsonMap> {
    let Some(entries) = node.as_map() else {
        report_wrong_type(node, "a map", problems);
        return None;
    };
    let mut map = JsonMap::with_capacity(entries.len());
    for (key, value) in entries {
        let Some(name) = key_text(key, problems) else { continue };
        if let Some(value) = problems.in_key(name, |problems| json(value, problems)) {
            map.insert(name.to_owned(), value);
        }
    }
    (map.len() == entries.len()).then_some(map)
}

fn scalar_json(scalar: &Scalar, node: &Node, problems: &mut Diagnostics) -> Option<Json> {
    Some(match scalar {
        Scalar::Null => Json::Null,
        Scalar::Bool(flag) => Json::Bool(*flag),
        Scalar::Int(number) => Json::from(*number),
        Scalar::BigInt(number) => return big_json(number, node, problems),
        Scalar::Float(number) if number.is_finite() => Json::from(*number),
        Scalar::Float(number) => {
            problems
                .error(
                    codes::RANGE,
                    node.span,
                    format!("`{}` cannot be represented as a JSON number", Scalar::Float(*number)),
                )
                .set_help("put it in quotes if it is text");
            return None;
        }
        Scalar::Str(text) => Json::from(&**text),
        Scalar::Timestamp(timestamp) => Json::from(&*timestamp.text),
    })
}

fn big_json(number: &BigInt, node: &Node, problems: &mut Diagnostics) -> Option<Json> {
    let value = u64::try_from(number).ok().map(Json::from);
    if value.is_none() {
        let message = format!("an integer must be between {} and {}", i64::MIN, u64::MAX);
        problems.error(codes::RANGE, node.span, message).set_help("put it in quotes if it is text");
    }
    value
}
