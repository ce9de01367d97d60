//! The names by which a task refers to others, wherever they are written out.

use stoker_model::Json;

use crate::merge::MergedTask;

/// A reference to tasks by name.
#[derive(Clone, Debug)]
pub(super) struct Link<'a> {
    pub(super) kind: Kind,
    /// A task or a pattern.
    pub(super) name: &'a str,
    /// The field it stands in, and where in its list.
    pub(super) field: &'static str,
    pub(super) item_idx: usize,
    /// Where the others must be; for relations across nodes only.
    pub(super) place: Place<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// On the same node, or a stage. The other one is before this.
    Requires,
    RequiredFor,
    /// On other nodes.
    CrossDepends,
    CrossDependedBy,
    /// A task of a group.
    Member,
}

/// What a relation says about the nodes of the other task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place<'a> {
    /// All nodes: nothing is said.
    Everywhere,
    /// `self`: the same node.
    Own,
    /// Null: stages.
    Sync,
    /// A name, a list, or computed.
    Named(&'a Json),
    /// As above, but only one of them: which one is known when it is planned.
    Any(Option<&'a Json>),
}

impl Link<'_> {
    pub(super) fn path(&self) -> String {
        match self.kind {
            Kind::CrossDepends | Kind::CrossDependedBy => format!("{}[{}].name", self.field, self.item_idx),
            _ => format!("{}[{}]", self.field, self.item_idx),
        }
    }

    /// Whether the other task is before this one.
    pub(super) fn is_backward(&self) -> bool {
        matches!(self.kind, Kind::Requires | Kind::CrossDepends)
    }

    pub(super) fn is_cross(&self) -> bool {
        matches!(self.kind, Kind::CrossDepends | Kind::CrossDependedBy)
    }
}

/// All references that are written out; computed ones are known when it is planned.
pub(super) fn links<'a>(task: &MergedTask<'a>) -> Vec<Link<'a>> {
    let mut links = Vec::new();
    for (field, kind) in
        [("requires", Kind::Requires), ("required_for", Kind::RequiredFor), ("tasks", Kind::Member)]
    {
        for (item_idx, item) in items(task.value(field)) {
            let Some(name) = item.as_str() else { continue };
            links.push(Link { kind, name, field, item_idx, place: Place::Own });
        }
    }
    for (field, kind) in [("cross_depends", Kind::CrossDepends), ("cross_depended_by", Kind::CrossDependedBy)]
    {
        for (item_idx, item) in items(task.value(field)) {
            let Some(name) = item.get("name").and_then(Json::as_str) else { continue };
            links.push(Link { kind, name, field, item_idx, place: place(item) });
        }
    }
    links
}

/// The items of a list; a text by itself is a list of one.
pub(super) fn items(value: Option<&Json>) -> impl Iterator<Item = (usize, &Json)> {
    let (list, single) = match value {
        Some(Json::Array(items)) => (&items[..], None),
        Some(text @ Json::String(_)) => (&[][..], Some(text)),
        _ => (&[][..], None),
    };
    list.iter().chain(single).enumerate()
}

/// `tags` win over `role`.
fn place(relation: &Json) -> Place<'_> {
    let said = relation.get("tags").or_else(|| relation.get("role"));
    if relation.get("policy").is_some_and(|policy| policy != "all") {
        return Place::Any(said);
    }
    match said {
        None => Place::Everywhere,
        Some(Json::Null) => Place::Sync,
        Some(Json::String(text)) if text == "self" => Place::Own,
        Some(Json::String(text)) if text == "*" => Place::Everywhere,
        Some(said) => Place::Named(said),
    }
}
