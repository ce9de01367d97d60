//! Documents as human-readable YAML that can be uploaded again.

use stoker_model::Json;
use stoker_yaml::BigInt;
use stoker_yaml::emit::{Atom, Emit, NodeView};

/// Renders a document as block-style YAML, with keys in document order.
pub fn to_yaml(document: &Json) -> String {
    stoker_yaml::emit::to_yaml(&Tree::from(document))
}

/// JSON with the emitter's trait implemented at every level.
enum Tree<'d> {
    Atom(Atom<'d>),
    /// An integer above `i64::MAX`.
    Unsigned(BigInt),
    Seq(Vec<Self>),
    Map(Vec<(&'d str, Self)>),
}

impl<'d> From<&'d Json> for Tree<'d> {
    fn from(document: &'d Json) -> Self {
        match document {
            Json::Null => Self::Atom(Atom::Null),
            Json::Bool(value) => Self::Atom(Atom::Bool(*value)),
            Json::String(text) => Self::Atom(Atom::Str(text)),
            Json::Array(items) => Self::Seq(items.iter().map(Self::from).collect()),
            Json::Object(entries) => {
                Self::Map(entries.iter().map(|(key, value)| (key.as_str(), Self::from(value))).collect())
            }
            Json::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(integer), _) => Self::Atom(Atom::Int(integer)),
                (None, Some(integer)) => Self::Unsigned(BigInt::from(integer)),
                (None, None) => Self::Atom(number.as_f64().map_or(Atom::Null, Atom::Float)),
            },
        }
    }
}

impl Emit for Tree<'_> {
    fn view(&self) -> NodeView<'_> {
        match self {
            Self::Atom(atom) => NodeView::Atom(*atom),
            Self::Unsigned(integer) => NodeView::Atom(Atom::BigInt(integer)),
            Self::Seq(items) => NodeView::Seq(items.iter().map(|item| item as &dyn Emit).collect()),
            Self::Map(entries) => NodeView::Map(
                entries.iter().map(|(key, value)| (Atom::Str(key), value as &dyn Emit)).collect(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stoker_diagnostics::Diagnostics;

    use super::*;
    use crate::reader::json;
    use crate::{Format, parse};

    #[test]
    fn yaml_round_trips() {
        let document = json!({
            "tasks": [{"id": "on", "n": 1, "x": 1.5, "none": null, "yes": true, "text": "a\nb\n", "empty": {}, "l": []}],
            "big": u64::MAX, "odd key: ": "- no",
        });
        let text = to_yaml(&document);
        let node = parse(&text, Format::Yaml).unwrap();
        assert_eq!(json(&node, &mut Diagnostics::default()), Some(document), "{text}");
    }
}
