//! What one plan does that another does not.
//!
//! Equal changes on many nodes are one change. Edges count only between instances that both plans have: those of an
//! instance that came or went come and go with it.

mod edges;
mod instances;
mod show;

use crate::plan::Action;
use crate::reasons::Difference;
use crate::stored::ExplainedPlan;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// By task.
    pub changes: Vec<Change>,
    pub edges_added: EdgeChanges,
    pub edges_removed: EdgeChanges,
    /// Fault tolerance groups that are not the same, by name.
    pub groups: Vec<GroupChange>,
}

/// The same change of one task on some nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub task: String,
    /// Uids, in the order of the plan.
    pub nodes: Vec<String>,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// Instances that only the earlier plan has.
    Gone(Step),
    /// Instances that only the later plan has.
    New(Step),
    /// Instances that run in one of them and are skipped in the other.
    Action { before: Step, after: Step },
    /// Instances that run in both, with other details. Secrets are masked, and of many differences some are told.
    Details { differences: Vec<Difference>, n_differences: usize },
}

/// What a plan does with an instance, and why.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    pub action: Action,
    pub reason: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EdgeChanges {
    pub n_edges: usize,
    /// The first ones, as `task@node`: what is before what.
    pub samples: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupChange {
    pub name: String,
    /// How many of how many nodes may fail; nothing if there was no such group.
    pub before: Option<(u64, usize)>,
    pub after: Option<(u64, usize)>,
    /// Whether it has other nodes.
    pub has_other_nodes: bool,
}

/// Compares two plans.
pub fn compare(before: &ExplainedPlan, after: &ExplainedPlan) -> Comparison {
    let pairs = instances::Pairs::new(&before.plan, &after.plan);
    let (edges_added, edges_removed) = edges::compare(&before.plan, &after.plan, &pairs);
    Comparison {
        changes: instances::compare(before, after, &pairs),
        edges_added,
        edges_removed,
        groups: compare_groups(before, after),
    }
}

fn compare_groups(before: &ExplainedPlan, after: &ExplainedPlan) -> Vec<GroupChange> {
    let (before, after) = (&before.plan.groups, &after.plan.groups);
    let mut names: Vec<&str> = before.iter().chain(after).map(|group| group.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut changes = Vec::new();
    for name in names {
        let of = |groups: &'_ [crate::plan::FaultToleranceGroup]| {
            groups.iter().find(|group| group.name == name).cloned()
        };
        let (a, b) = (of(before), of(after));
        if a != b {
            let has_other_nodes =
                a.as_ref().map(|group| &group.nodes) != b.as_ref().map(|group| &group.nodes);
            let short = |group: crate::plan::FaultToleranceGroup| (group.tolerated, group.nodes.len());
            let (before, after) = (a.map(short), b.map(short));
            changes.push(GroupChange { name: name.to_owned(), before, after, has_other_nodes });
        }
    }
    changes
}
