//! Rendering of a comparison, as text and as JSON.

use std::fmt;

use stoker_model::{Json, JsonMap};

use super::{ChangeKind, Comparison, EdgeChanges, GroupChange, PlanChange, PlannedAction};
use crate::plan::InstanceAction;
use crate::reasons::Difference;

/// Nodes listed per change; the others are only counted.
const NODES_LISTED: usize = 6;

impl Comparison {
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
            && self.groups.is_empty()
            && self.edges_added.n_edges + self.edges_removed.n_edges == 0
    }

    /// The complete comparison as JSON.
    pub fn to_json(&self) -> Json {
        map([
            ("changes", self.changes.iter().map(PlanChange::to_json).collect()),
            ("edges_added", self.edges_added.to_json()),
            ("edges_removed", self.edges_removed.to_json()),
            ("groups", self.groups.iter().map(GroupChange::to_json).collect()),
        ])
    }
}

fn map<const N: usize>(fields: [(&str, Json); N]) -> Json {
    Json::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<JsonMap>())
}

impl PlanChange {
    fn to_json(&self) -> Json {
        let (change, before, after, differences) = match &self.kind {
            ChangeKind::Removed(step) => ("gone", step.to_json(), Json::Null, Json::Null),
            ChangeKind::Added(step) => ("new", Json::Null, step.to_json(), Json::Null),
            ChangeKind::Action { before, after } => ("action", before.to_json(), after.to_json(), Json::Null),
            ChangeKind::Details { differences, .. } => {
                let differences = differences.iter().map(difference_json).collect();
                ("details", Json::Null, Json::Null, differences)
            }
        };
        let fields = [
            ("task", Json::from(&*self.task)),
            ("nodes", Json::from(self.nodes.clone())),
            ("change", Json::from(change)),
            ("before", before),
            ("after", after),
            ("differences", differences),
        ];
        let present = fields.into_iter().filter(|(_, value)| !value.is_null());
        Json::Object(present.map(|(key, value)| (key.to_owned(), value)).collect())
    }
}

fn difference_json(difference: &Difference) -> Json {
    map([
        ("path", Json::from(&*difference.path)),
        ("old", Json::from(difference.old.clone())),
        ("new", Json::from(difference.new.clone())),
    ])
}

impl PlannedAction {
    fn to_json(&self) -> Json {
        map([("action", self.action.as_str().into()), ("reason", Json::from(&*self.reason))])
    }
}

impl EdgeChanges {
    fn to_json(&self) -> Json {
        let pair = |(before, after): &(String, String)| Json::from(vec![before.clone(), after.clone()]);
        map([("n_edges", self.n_edges.into()), ("samples", self.samples.iter().map(pair).collect())])
    }
}

impl GroupChange {
    fn to_json(&self) -> Json {
        let side = |side: Option<(u64, usize)>| {
            side.map_or(Json::Null, |(tolerated, n_nodes)| {
                map([("fault_tolerance", tolerated.into()), ("n_nodes", n_nodes.into())])
            })
        };
        map([("name", Json::from(&*self.name)), ("before", side(self.before)), ("after", side(self.after))])
    }
}

/// One line per change: `+` added, `-` removed, `~` changed.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("the plans are identical");
        }
        let mut lines: Vec<String> = self.changes.iter().map(ToString::to_string).collect();
        let edges = [('+', &self.edges_added, "added"), ('-', &self.edges_removed, "removed")];
        for (sign, edges, word) in edges.into_iter().filter(|(_, edges, _)| edges.n_edges > 0) {
            let samples: Vec<String> =
                edges.samples.iter().map(|(before, after)| format!("{before} before {after}")).collect();
            let more = more_suffix(edges.n_edges, edges.samples.len());
            let noun = if edges.n_edges == 1 { "edge" } else { "edges" };
            lines.push(format!("{sign} {} {noun} {word}: {}{more}", edges.n_edges, samples.join(", ")));
        }
        lines.extend(self.groups.iter().map(ToString::to_string));
        f.write_str(&lines.join("\n"))
    }
}

fn more_suffix(n_total: usize, n_listed: usize) -> String {
    match n_total - n_listed.min(n_total) {
        0 => String::new(),
        n_more => format!(" and {n_more} more"),
    }
}

impl fmt::Display for PlanChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.kind {
            ChangeKind::Removed(_) => '-',
            ChangeKind::Added(_) => '+',
            ChangeKind::Action { .. } | ChangeKind::Details { .. } => '~',
        };
        let nodes = self.nodes[..self.nodes.len().min(NODES_LISTED)].join(", ");
        let more_nodes = more_suffix(self.nodes.len(), NODES_LISTED);
        write!(f, "{sign} {} on {nodes}{more_nodes}: ", self.task)?;
        match &self.kind {
            ChangeKind::Removed(step) => write!(f, "removed, {}", describe_before(step)),
            ChangeKind::Added(step) => write!(f, "added, {}: {}", describe_after(step), step.reason),
            ChangeKind::Action { before, after } => {
                write!(
                    f,
                    "{} ({}), now {} ({})",
                    describe_before(before),
                    before.reason,
                    describe_after(after),
                    after.reason
                )
            }
            ChangeKind::Details { differences, n_differences } => {
                let differences_text: Vec<String> = differences.iter().map(ToString::to_string).collect();
                write!(f, "{}{}", differences_text.join(", "), more_suffix(*n_differences, differences.len()))
            }
        }
    }
}

fn describe_before(step: &PlannedAction) -> &'static str {
    if step.action == InstanceAction::Run { "would have run" } else { "would have been skipped" }
}

fn describe_after(step: &PlannedAction) -> &'static str {
    if step.action == InstanceAction::Run { "runs" } else { "is skipped" }
}

impl fmt::Display for GroupChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let describe =
            |(tolerated, n_nodes): (u64, usize)| format!("{tolerated} of {n_nodes} nodes may fail");
        let name = &self.name;
        match (self.before, self.after) {
            (Some(before), None) => write!(f, "- group `{name}` removed: {}", describe(before)),
            (None, Some(after)) => write!(f, "+ group `{name}` added: {}", describe(after)),
            (Some(before), Some(after)) if before != after => {
                write!(f, "~ group `{name}`: {}, previously {} of {}", describe(after), before.0, before.1)
            }
            _ => write!(f, "~ group `{name}`: set of nodes changed"),
        }
    }
}
