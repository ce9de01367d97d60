//! Checks that node uids, instance indices, groups and choices refer to existing items.

use std::collections::HashSet;

use stoker_state::{MASTER, SYNC};

use super::Violations;
use crate::plan::Plan;

pub(super) fn check_nodes(plan: &Plan, violations: &mut Violations) {
    if !plan.nodes.ends_with(&[MASTER.to_owned(), SYNC.to_owned()]) {
        violations.add("nodes", || format!("the last two nodes are not `{MASTER}` and `{SYNC}`"));
    }
    let mut uids = HashSet::new();
    for uid in plan.nodes.iter().filter(|uid| !uids.insert(uid.as_str())) {
        violations.add("nodes", || format!("node `{uid}` is listed twice"));
    }
}

/// Checks the instance numbering; `false` if an index is out of range or inconsistent.
pub(super) fn check_numbers(plan: &Plan, violations: &mut Violations) -> bool {
    let mut is_valid = true;
    let mut wrong = |message: String| {
        is_valid = false;
        violations.add("numbers", || message);
    };
    let mut n_instances = 0;
    let mut last_name: Option<&str> = None;
    for task in &plan.tasks {
        let name = &task.name;
        if last_name.is_some_and(|last| last >= name.as_str()) {
            wrong(format!("task `{name}` is out of order"));
        }
        last_name = Some(name);
        if task.first.index() != n_instances {
            wrong(format!("the first instance of task `{name}` is {}, expected {n_instances}", task.first));
        }
        n_instances += task.nodes.len();
        for pair in task.nodes.windows(2).filter(|pair| pair[0] >= pair[1]) {
            wrong(format!("nodes of task `{name}` do not ascend: {} after {}", pair[1], pair[0]));
        }
        for node_idx in task.nodes.iter().filter(|node_idx| node_idx.index() >= plan.nodes.len()) {
            wrong(format!(
                "task `{name}` is on node index {node_idx}, but the plan has {} nodes",
                plan.nodes.len()
            ));
        }
    }
    for (column, len) in [("verdicts", plan.verdicts.len()), ("details", plan.details.len())] {
        if len != n_instances {
            wrong(format!("the plan has {n_instances} instances but {len} {column}"));
        }
    }
    if plan.order.n_vertices() < n_instances {
        wrong(format!("the order has {} vertices for {n_instances} instances", plan.order.n_vertices()));
    }
    is_valid
}

pub(super) fn check_groups(plan: &Plan, violations: &mut Violations) {
    let uids: HashSet<&str> = plan.nodes.iter().map(String::as_str).collect();
    for group in &plan.groups {
        let mut members = HashSet::new();
        for uid in &group.nodes {
            if !uids.contains(uid.as_str()) {
                violations.add("groups", || format!("group `{}` contains unknown node `{uid}`", group.name));
            }
            if !members.insert(uid) {
                violations.add("groups", || format!("group `{}` contains node `{uid}` twice", group.name));
            }
        }
        if group.max_failed > group.nodes.len() as u64 + 1 {
            let (name, n_nodes, tolerated) = (&group.name, group.nodes.len(), group.max_failed);
            violations.add("groups", || {
                format!("group `{name}` tolerates {tolerated} failed nodes but has only {n_nodes}")
            });
        }
    }
}

pub(super) fn check_choices(plan: &Plan, violations: &mut Violations) {
    let uids: HashSet<&str> = plan.nodes.iter().map(String::as_str).collect();
    for choice in &plan.choices {
        if !uids.contains(choice.node.as_str()) {
            let (task, name, uid) = (&choice.task, &choice.name, &choice.node);
            violations.add("choices", || {
                format!("the choice of task `{task}` for `{name}` is unknown node `{uid}`")
            });
        }
        if !plan.tasks.iter().any(|task| task.name == choice.task) {
            violations.add("choices", || format!("a choice belongs to unknown task `{}`", choice.task));
        }
    }
}
