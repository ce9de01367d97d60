//! Differences between the instances of two plans.

use std::collections::HashMap;

use stoker_model::{InstanceIdx, Json, NodeIdx};
use stoker_yaql::Value;

use super::{ChangeKind, PlanChange, PlannedAction};
use crate::plan::{Details, InstanceAction, Plan, PlannedTask};
use crate::reasons::{DiffSource, Difference, differences};
use crate::stored::ExplainedPlan;

/// Correspondence between the instances of two plans.
pub(super) struct Pairs {
    /// For each instance of the earlier plan, the same task and node in the later one.
    pub(super) after: Vec<Option<InstanceIdx>>,
    /// For each instance of the later plan, the same task and node in the earlier one.
    pub(super) before: Vec<Option<InstanceIdx>>,
}

impl Pairs {
    pub(super) fn new(before: &Plan, after: &Plan) -> Self {
        let indices = NodeIdx::first(after.nodes.len());
        let node_idx_of: HashMap<&str, NodeIdx> =
            after.nodes.iter().map(String::as_str).zip(indices).collect();
        let node_after: Vec<Option<NodeIdx>> =
            before.nodes.iter().map(|uid| node_idx_of.get(&**uid).copied()).collect();
        let tasks: HashMap<&str, &PlannedTask> =
            after.tasks.iter().map(|task| (task.name.as_str(), task)).collect();
        let mut pairs =
            Self { after: vec![None; before.n_instances()], before: vec![None; after.n_instances()] };
        for task in &before.tasks {
            let Some(other) = tasks.get(task.name.as_str()) else { continue };
            for (idx, node_idx) in task.instances() {
                let Some(node_idx) = node_after[node_idx.index()] else { continue };
                let Ok(position) = other.nodes.binary_search(&node_idx) else { continue };
                let other_idx = InstanceIdx::at(other.first.index() + position);
                pairs.after[idx.index()] = Some(other_idx);
                pairs.before[other_idx.index()] = Some(idx);
            }
        }
        pairs
    }
}

pub(super) fn compare(before: &ExplainedPlan, after: &ExplainedPlan, pairs: &Pairs) -> Vec<PlanChange> {
    let mut changes = Changes::default();
    for instance in before.plan.instances() {
        let step = || step(before, instance.idx);
        match pairs.after[instance.idx.index()] {
            None => changes.add(instance.task, instance.node, ChangeKind::Removed(step())),
            Some(other_idx) => changes.pair(before, after, instance.idx, other_idx),
        }
    }
    for instance in after.plan.instances() {
        if pairs.before[instance.idx.index()].is_none() {
            changes.add(instance.task, instance.node, ChangeKind::Added(step(after, instance.idx)));
        }
    }
    let mut all = changes.all;
    all.sort_by(|a, b| a.task.cmp(&b.task));
    all
}

fn step(explained: &ExplainedPlan, idx: InstanceIdx) -> PlannedAction {
    let action =
        explained.plan.instance(idx).map_or(InstanceAction::Skip, |instance| instance.verdict.action());
    let reason = explained.reasons.of(idx).map(ToString::to_string).unwrap_or_default();
    PlannedAction { action, reason }
}

#[derive(Default)]
struct Changes<'p> {
    all: Vec<PlanChange>,
    index_of: HashMap<(&'p str, ChangeKind), usize>,
    /// Comparisons of details, cached by address: many instances share their details.
    details: HashMap<(*const Details, *const Details), Option<ChangeKind>>,
}

impl<'p> Changes<'p> {
    fn add(&mut self, task: &'p str, uid: &str, what: ChangeKind) {
        let change_idx = *self.index_of.entry((task, what)).or_insert_with_key(|(task, what)| {
            self.all.push(PlanChange { task: (*task).to_owned(), nodes: Vec::new(), kind: what.clone() });
            self.all.len() - 1
        });
        self.all[change_idx].nodes.push(uid.to_owned());
    }

    fn pair(
        &mut self,
        before: &'p ExplainedPlan,
        after: &'p ExplainedPlan,
        idx: InstanceIdx,
        other_idx: InstanceIdx,
    ) {
        let (Some(a), Some(b)) = (before.plan.instance(idx), after.plan.instance(other_idx)) else { return };
        if a.verdict.action() != b.verdict.action() {
            let what = ChangeKind::Action { before: step(before, idx), after: step(after, other_idx) };
            return self.add(b.task, b.node, what);
        }
        let (Some(a), Some(details)) = (before.plan.details(idx), after.plan.details(other_idx)) else {
            return;
        };
        let key = (std::ptr::from_ref(a), std::ptr::from_ref(details));
        let what = self.details.entry(key).or_insert_with(|| compare_details(a, details)).clone();
        if let Some(what) = what {
            self.add(b.task, b.node, what);
        }
    }
}

fn compare_details(before: &Details, after: &Details) -> Option<ChangeKind> {
    if before == after {
        return None;
    }
    let fields = [
        ("type", before.task_type.clone(), after.task_type.clone()),
        ("fail_on_error", before.fail_on_error.to_string(), after.fail_on_error.to_string()),
    ];
    let mut listed: Vec<Difference> = fields
        .into_iter()
        .filter(|(_, old, new)| old != new)
        .map(|(path, old, new)| Difference { path: path.to_owned(), old: Some(old), new: Some(new) })
        .collect();
    let (parameter_differences, n_parameter_differences) = differences(
        "parameters",
        &value(&before.parameters),
        &value(&after.parameters),
        DiffSource::Parameters,
    );
    let mut n_differences = listed.len() + n_parameter_differences;
    listed.extend(parameter_differences);
    if listed.is_empty() {
        // The parameters differ only in ways that the expression language treats as equal (`1` and `true`,
        // key order); an executor may distinguish them.
        listed.push(Difference {
            path: "parameters differ only in types or key order".to_owned(),
            old: None,
            new: None,
        });
        n_differences = 1;
    }
    Some(ChangeKind::Details { differences: listed, n_differences })
}

/// JSON as a YAQL value; every JSON value is one.
fn value(data: &Json) -> Value {
    stoker_yaql::json::parse(&data.to_string()).unwrap_or_default()
}
