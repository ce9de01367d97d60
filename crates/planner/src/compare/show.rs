//! A comparison for people and for programs.

use std::fmt;

use stoker_model::{Json, JsonMap};

use super::{Change, Comparison, EdgeChanges, GroupChange, Step, What};
use crate::plan::Action;
use crate::reasons::Difference;

/// More nodes than these are counted.
const NODES_SHOWN: usize = 6;

impl Comparison {
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
            && self.groups.is_empty()
            && self.edges_added.n_edges + self.edges_removed.n_edges == 0
    }

    /// Everything, for programs.
    pub fn to_json(&self) -> Json {
        map([
            ("changes", self.changes.iter().map(Change::to_json).collect()),
            ("edges_added", self.edges_added.to_json()),
            ("edges_removed", self.edges_removed.to_json()),
            ("groups", self.groups.iter().map(GroupChange::to_json).collect()),
        ])
    }
}

fn map<const N: usize>(fields: [(&str, Json); N]) -> Json {
    Json::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<JsonMap>())
}

impl Change {
    fn to_json(&self) -> Json {
        let (change, before, after, differences) = match &self.what {
            What::Gone(step) => ("gone", step.to_json(), Json::Null, Json::Null),
            What::New(step) => ("new", Json::Null, step.to_json(), Json::Null),
            What::Action { before, after } => ("action", before.to_json(), after.to_json(), Json::Null),
            What::Details { differences, .. } => {
                let shown = differences.iter().map(difference_json).collect();
                ("details", Json::Null, Json::Null, shown)
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
        let said = fields.into_iter().filter(|(_, value)| !value.is_null());
        Json::Object(said.map(|(key, value)| (key.to_owned(), value)).collect())
    }
}

fn difference_json(difference: &Difference) -> Json {
    map([
        ("path", Json::from(&*difference.path)),
        ("old", Json::from(difference.old.clone())),
        ("new", Json::from(difference.new.clone())),
    ])
}

impl Step {
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

/// A line for each change: `+` is new, `-` is gone, `~` is another.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("the plans are the same");
        }
        let mut lines: Vec<String> = self.changes.iter().map(ToString::to_string).collect();
        let edges = [('+', &self.edges_added, "more"), ('-', &self.edges_removed, "fewer")];
        for (sign, edges, word) in edges.into_iter().filter(|(_, edges, _)| edges.n_edges > 0) {
            let samples: Vec<String> =
                edges.samples.iter().map(|(before, after)| format!("{before} before {after}")).collect();
            let more = more(edges.n_edges, edges.samples.len());
            let noun = if edges.n_edges == 1 { "edge" } else { "edges" };
            lines.push(format!("{sign} {} {noun} {word}: {}{more}", edges.n_edges, samples.join(", ")));
        }
        lines.extend(self.groups.iter().map(ToString::to_string));
        f.write_str(&lines.join("\n"))
    }
}

fn more(n_all: usize, n_shown: usize) -> String {
    match n_all - n_shown.min(n_all) {
        0 => String::new(),
        n_more => format!(" and {n_more} more"),
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.what {
            What::Gone(_) => '-',
            What::New(_) => '+',
            What::Action { .. } | What::Details { .. } => '~',
        };
        let shown = self.nodes[..self.nodes.len().min(NODES_SHOWN)].join(", ");
        let more_nodes = more(self.nodes.len(), NODES_SHOWN);
        write!(f, "{sign} {} on {shown}{more_nodes}: ", self.task)?;
        match &self.what {
            What::Gone(step) => write!(f, "is gone, {}", did(step)),
            What::New(step) => write!(f, "is new, {}: {}", does(step), step.reason),
            What::Action { before, after } => {
                write!(f, "{} ({}), {} now ({})", did(before), before.reason, does(after), after.reason)
            }
            What::Details { differences, n_differences } => {
                let told: Vec<String> = differences.iter().map(ToString::to_string).collect();
                write!(f, "{}{}", told.join(", "), more(*n_differences, differences.len()))
            }
        }
    }
}

fn did(step: &Step) -> &'static str {
    if step.action == Action::Run { "was to run" } else { "was to be skipped" }
}

fn does(step: &Step) -> &'static str {
    if step.action == Action::Run { "runs" } else { "is skipped" }
}

impl fmt::Display for GroupChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = |(tolerated, n_nodes): (u64, usize)| format!("{tolerated} of {n_nodes} nodes may fail");
        let name = &self.name;
        match (self.before, self.after) {
            (Some(before), None) => write!(f, "- group {name} is gone: {}", words(before)),
            (None, Some(after)) => write!(f, "+ group {name} is new: {}", words(after)),
            (Some(before), Some(after)) if before != after => {
                write!(f, "~ group {name}: {}, and it was {} of {}", words(after), before.0, before.1)
            }
            _ => write!(f, "~ group {name} has other nodes"),
        }
    }
}
