//! Differences between two plans.
//!
//! Equal changes on several nodes are one [`Change`]. Only edges between instances that both plans have are
//! compared; those of an added or removed instance are implied by the instance.

mod edges;
mod instances;
mod show;

use crate::plan::InstanceAction;
use crate::reasons::Difference;
use crate::stored::ExplainedPlan;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Ordered by task.
    pub changes: Vec<PlanChange>,
    pub edges_added: EdgeChanges,
    pub edges_removed: EdgeChanges,
    /// Fault tolerance groups that differ, ordered by name.
    pub groups: Vec<GroupChange>,
}

/// The same change of one task on several nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanChange {
    pub task: String,
    /// Uids, in the order of the plan.
    pub nodes: Vec<String>,
    pub kind: ChangeKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// Instances that only the earlier plan has.
    Removed(PlannedAction),
    /// Instances that only the later plan has.
    Added(PlannedAction),
    /// Instances that run in one plan and are skipped in the other.
    Action { before: PlannedAction, after: PlannedAction },
    /// Instances that run in both plans with different details. Secrets are masked; the list of differences
    /// is truncated and `n_differences` counts all of them.
    Details { differences: Vec<Difference>, n_differences: usize },
}

/// The action for an instance, with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlannedAction {
    pub action: InstanceAction,
    pub reason: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EdgeChanges {
    pub n_edges: usize,
    /// The first few, as `task@node` pairs: the first runs before the second.
    pub samples: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupChange {
    pub name: String,
    /// Tolerated failures and number of nodes; `None` if the plan has no such group.
    pub before: Option<(u64, usize)>,
    pub after: Option<(u64, usize)>,
    /// Whether the set of nodes changed.
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
            let short = |group: crate::plan::FaultToleranceGroup| (group.max_failed, group.nodes.len());
            let (before, after) = (a.map(short), b.map(short));
            changes.push(GroupChange { name: name.to_owned(), before, after, has_other_nodes });
        }
    }
    changes
}
