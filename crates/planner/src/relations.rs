//! Parses the computed relation fields of a task.

use stoker_diagnostics::Diagnostic;
use stoker_model::Json;

use crate::definition::{CROSS_DEPENDED_BY, CROSS_DEPENDS, REFRESH_ON, REQUIRED_FOR, REQUIRES};
use crate::json::is_true;
use crate::report::codes;

/// A dependency on another task, by name or pattern.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Relation {
    pub(crate) name: String,
    pub(crate) is_before: bool,
    /// Whether changes of the other task trigger this one.
    pub(crate) is_trigger: bool,
    pub(crate) target: TargetNodes,
    /// Path of the entry, for problems.
    pub(crate) field: String,
}

/// Nodes on which instances of the other task are considered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TargetNodes {
    /// Instances on the same node, or stages.
    OwnOrSync,
    /// On the same node.
    Own,
    /// Only stages.
    Sync,
    /// Instances on nodes with these roles or tags; `None` for all nodes.
    Nodes(Option<Json>),
    /// On one of these nodes, chosen by the planner.
    AnyOf(Option<Json>),
}

/// Parses a field of a task. Null and false entries are ignored, so that an expression can produce an optional entry. Entries that
/// are not relations are problems with their path, such as `cross_depends[0]`.
pub(crate) fn read(
    task: &str,
    field: &'static str,
    value: &Json,
    problems: &mut Vec<Diagnostic>,
) -> Vec<Relation> {
    let is_before = matches!(field, REQUIRES | CROSS_DEPENDS | REFRESH_ON);
    let is_trigger = field == REFRESH_ON;
    let items: &[Json] = match value {
        Json::Array(items) => items,
        Json::Null | Json::Bool(false) => return Vec::new(),
        single => std::slice::from_ref(single),
    };
    let mut relations = Vec::new();
    for (item_idx, item) in items.iter().enumerate().filter(|(_, item)| is_true(item)) {
        let path = format!("{field}[{item_idx}]");
        let parsed = match field {
            REQUIRES | REQUIRED_FOR => item.as_str().map(|name| (name, TargetNodes::OwnOrSync)),
            REFRESH_ON => item.as_str().map(|name| (name, TargetNodes::Own)).or_else(|| parse_cross(item)),
            CROSS_DEPENDS | CROSS_DEPENDED_BY => parse_cross(item),
            _ => None,
        };
        if let Some((name, target)) = parsed {
            relations.push(Relation { name: name.to_owned(), is_before, is_trigger, target, field: path });
        } else {
            let message = format!("{item} is not a reference to a task");
            problems.push(Diagnostic::error(codes::FIELD, message).task(task, path));
        }
    }
    relations
}

fn parse_cross(item: &Json) -> Option<(&str, TargetNodes)> {
    let name = item.get("name")?.as_str()?;
    let node_names = item.get("tags").or_else(|| item.get("role"));
    if item.get("policy").and_then(Json::as_str) == Some("any") {
        return Some((name, TargetNodes::AnyOf(node_names.cloned())));
    }
    let target = match node_names {
        Some(Json::Null) => TargetNodes::Sync,
        Some(Json::String(text)) if text == "self" => TargetNodes::Own,
        node_names => TargetNodes::Nodes(node_names.cloned()),
    };
    Some((name, target))
}
