//! References of a task to other tasks, as far as they are not computed.

use stoker_model::Json;

use crate::merge::MergedTask;

/// A reference to tasks by name.
#[derive(Clone, Debug)]
pub(super) struct Link<'a> {
    pub(super) kind: LinkKind,
    /// A task name or a pattern.
    pub(super) name: &'a str,
    /// The field that contains it, and the index in its list.
    pub(super) field: &'static str,
    pub(super) item_idx: usize,
    /// Nodes that the other task's instances must run on; used only for relations across nodes.
    pub(super) target: TargetNodes<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkKind {
    /// `requires`: the other task, on the same node or a stage, runs before this task.
    Requires,
    RequiredFor,
    /// `cross-depends`: dependency on instances on other nodes.
    CrossDepends,
    CrossDependedBy,
    /// `refresh_on`: the other task, on the same node, runs before this task and triggers it.
    Trigger,
    /// Membership in a group.
    Member,
}

/// Nodes of the other task that a relation refers to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TargetNodes<'a> {
    /// All nodes (the default).
    Everywhere,
    /// `self`: the same node.
    Own,
    /// Null: stages only.
    Sync,
    /// A name, a list of names, or a computed value.
    Named(&'a Json),
    /// Like `Named`, but only one node, which the planner chooses.
    Any(Option<&'a Json>),
}

impl Link<'_> {
    pub(super) fn path(&self) -> String {
        match self.kind {
            LinkKind::CrossDepends | LinkKind::CrossDependedBy => {
                format!("{}[{}].name", self.field, self.item_idx)
            }
            _ => format!("{}[{}]", self.field, self.item_idx),
        }
    }

    /// Reports whether the other task of the relation runs first.
    pub(super) fn is_backward(&self) -> bool {
        matches!(self.kind, LinkKind::Requires | LinkKind::CrossDepends | LinkKind::Trigger)
    }

    pub(super) fn is_cross(&self) -> bool {
        matches!(self.kind, LinkKind::CrossDepends | LinkKind::CrossDependedBy)
    }
}

/// Returns all literal references; computed references are known only at planning time.
pub(super) fn links<'a>(task: &MergedTask<'a>) -> Vec<Link<'a>> {
    let mut links = Vec::new();
    for (field, kind) in [
        ("requires", LinkKind::Requires),
        ("required_for", LinkKind::RequiredFor),
        ("tasks", LinkKind::Member),
    ] {
        for (item_idx, item) in items(task.value(field)) {
            let Some(name) = item.as_str() else { continue };
            links.push(Link { kind, name, field, item_idx, target: TargetNodes::Own });
        }
    }
    for (item_idx, item) in items(task.value("refresh_on")) {
        if let Some(name) = item.as_str() {
            let (kind, target) = (LinkKind::Trigger, TargetNodes::Own);
            links.push(Link { kind, name, field: "refresh_on", item_idx, target });
        }
    }
    for (field, kind) in [
        ("cross_depends", LinkKind::CrossDepends),
        ("cross_depended_by", LinkKind::CrossDependedBy),
        ("refresh_on", LinkKind::CrossDepends),
    ] {
        for (item_idx, item) in items(task.value(field)) {
            let Some(name) = item.get("name").and_then(Json::as_str) else { continue };
            links.push(Link { kind, name, field, item_idx, target: target(item) });
        }
    }
    links
}

/// Returns the items of a list; a string counts as a list with one item.
pub(super) fn items(value: Option<&Json>) -> impl Iterator<Item = (usize, &Json)> {
    let (list, single) = match value {
        Some(Json::Array(items)) => (&items[..], None),
        Some(text @ Json::String(_)) => (&[][..], Some(text)),
        _ => (&[][..], None),
    };
    list.iter().chain(single).enumerate()
}

/// Returns the nodes of a relation. `tags` take precedence over `role`.
fn target(relation: &Json) -> TargetNodes<'_> {
    let node_names = relation.get("tags").or_else(|| relation.get("role"));
    if relation.get("policy").is_some_and(|policy| policy != "all") {
        return TargetNodes::Any(node_names);
    }
    match node_names {
        None => TargetNodes::Everywhere,
        Some(Json::Null) => TargetNodes::Sync,
        Some(Json::String(text)) if text == "self" => TargetNodes::Own,
        Some(Json::String(text)) if text == "*" => TargetNodes::Everywhere,
        Some(node_names) => TargetNodes::Named(node_names),
    }
}
