//! What a task says about others, read from fields in which everything is computed.

use stoker_model::Json;

use crate::definition::{CROSS_DEPENDED_BY, CROSS_DEPENDS, REQUIRED_FOR, REQUIRES};
use crate::json::is_true;

/// A task that is before or after this one, by name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Relation {
    pub(crate) name: String,
    pub(crate) is_before: bool,
    pub(crate) place: Place,
    /// Where it is written.
    pub(crate) field: String,
}

/// Where the other task has to be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Place {
    /// On the same node, or a stage.
    OwnOrSync,
    /// On the same node.
    Own,
    /// Only stages.
    Sync,
    /// On these nodes; not said: on all.
    Nodes(Option<Json>),
    /// On one of these nodes.
    AnyOf(Option<Json>),
}

/// What is wrong with an entry.
pub(crate) type Complaint = (String, String);

/// Reads a field. Entries that are nothing or false are left out: expressions use them to say nothing.
pub(crate) fn read(field: &'static str, value: &Json, complaints: &mut Vec<Complaint>) -> Vec<Relation> {
    let is_before = matches!(field, REQUIRES | CROSS_DEPENDS);
    let items: &[Json] = match value {
        Json::Array(items) => items,
        Json::Null | Json::Bool(false) => return Vec::new(),
        single => std::slice::from_ref(single),
    };
    let mut relations = Vec::new();
    for (item_idx, item) in items.iter().enumerate().filter(|(_, item)| is_true(item)) {
        let path = format!("{field}[{item_idx}]");
        let found = match field {
            REQUIRES | REQUIRED_FOR => item.as_str().map(|name| (name, Place::OwnOrSync)),
            CROSS_DEPENDS | CROSS_DEPENDED_BY => cross(item),
            _ => None,
        };
        match found {
            Some((name, place)) => {
                relations.push(Relation { name: name.to_owned(), is_before, place, field: path });
            }
            None => complaints.push((path, format!("{item} names no task"))),
        }
    }
    relations
}

fn cross(item: &Json) -> Option<(&str, Place)> {
    let name = item.get("name")?.as_str()?;
    let said = item.get("tags").or_else(|| item.get("role"));
    if item.get("policy").and_then(Json::as_str) == Some("any") {
        return Some((name, Place::AnyOf(said.cloned())));
    }
    let place = match said {
        Some(Json::Null) => Place::Sync,
        Some(Json::String(text)) if text == "self" => Place::Own,
        said => Place::Nodes(said.cloned()),
    };
    Some((name, place))
}
