//! Whether everything that is named or numbered is there.

use std::collections::HashSet;

use super::Findings;
use crate::plan::Plan;
use crate::state::{MASTER, SYNC};

pub(super) fn check_nodes(plan: &Plan, findings: &mut Findings) {
    if !plan.nodes.ends_with(&[MASTER.to_owned(), SYNC.to_owned()]) {
        findings.add("nodes", || format!("the last two nodes are not `{MASTER}` and `{SYNC}`"));
    }
    let mut seen = HashSet::new();
    for uid in plan.nodes.iter().filter(|uid| !seen.insert(uid.as_str())) {
        findings.add("nodes", || format!("node `{uid}` is there twice"));
    }
}

/// Whether the numbers of all instances lead somewhere.
pub(super) fn check_numbers(plan: &Plan, findings: &mut Findings) -> bool {
    let mut is_right = true;
    let mut wrong = |message: String| {
        is_right = false;
        findings.add("numbers", || message);
    };
    let mut n_instances = 0;
    let mut last_name: Option<&str> = None;
    for task in &plan.tasks {
        let name = &task.name;
        if last_name.is_some_and(|last| last >= name.as_str()) {
            wrong(format!("task `{name}` is out of order"));
        }
        last_name = Some(name);
        if task.first as usize != n_instances {
            wrong(format!("the first instance of task `{name}` is {} and not {n_instances}", task.first));
        }
        n_instances += task.nodes.len();
        for pair in task.nodes.windows(2).filter(|pair| pair[0] >= pair[1]) {
            wrong(format!("task `{name}` is on node {} after node {}", pair[1], pair[0]));
        }
        for node_idx in task.nodes.iter().filter(|node_idx| **node_idx as usize >= plan.nodes.len()) {
            wrong(format!("task `{name}` is on node {node_idx} of {}", plan.nodes.len()));
        }
    }
    for (what, len) in [("verdicts", plan.verdicts.len()), ("details", plan.details.len())] {
        if len != n_instances {
            wrong(format!("there are {n_instances} instances and {len} {what}"));
        }
    }
    if plan.order.n_vertices() < n_instances {
        wrong(format!("the order has {} places for {n_instances} instances", plan.order.n_vertices()));
    }
    is_right
}

pub(super) fn check_groups(plan: &Plan, findings: &mut Findings) {
    let uids: HashSet<&str> = plan.nodes.iter().map(String::as_str).collect();
    for group in &plan.groups {
        let mut seen = HashSet::new();
        for uid in &group.nodes {
            if !uids.contains(uid.as_str()) {
                findings.add("groups", || format!("group `{}` has the unknown node `{uid}`", group.name));
            }
            if !seen.insert(uid) {
                findings.add("groups", || format!("group `{}` has node `{uid}` twice", group.name));
            }
        }
        if group.tolerated > group.nodes.len() as u64 + 1 {
            let (name, n_nodes, tolerated) = (&group.name, group.nodes.len(), group.tolerated);
            findings
                .add("groups", || format!("{tolerated} of the {n_nodes} nodes of group `{name}` may fail"));
        }
    }
}

pub(super) fn check_choices(plan: &Plan, findings: &mut Findings) {
    let uids: HashSet<&str> = plan.nodes.iter().map(String::as_str).collect();
    for choice in &plan.choices {
        if !uids.contains(choice.node.as_str()) {
            let (task, name, uid) = (&choice.task, &choice.name, &choice.node);
            findings.add("choices", || format!("task `{task}` means `{name}` on the unknown node `{uid}`"));
        }
        if !plan.tasks.iter().any(|task| task.name == choice.task) {
            findings.add("choices", || format!("a choice is that of the unknown task `{}`", choice.task));
        }
    }
}
