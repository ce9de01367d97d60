//! Builders for small graphs and clusters.

#![allow(dead_code, reason = "shared by several test binaries")]
#![allow(clippy::needless_pass_by_value, reason = "tests read better with fields written in place")]

use serde_json::{Value as Json, json};
use stoker_model::Task;
use stoker_planner::{InstanceAction, NodeInput, Plan, PlanningInput, PlanningReport, plan};
use stoker_state::{AppliedStates, Document, EffectiveState};
use stoker_yaql::json::parse;

pub(crate) fn task(name: &str, fields: Json) -> Task {
    Task { name: name.to_owned(), fields: fields.as_object().cloned().unwrap_or_default() }
}

/// A task of type `shell` on all nodes, with additional fields.
pub(crate) fn shell(name: &str, more: Json) -> Task {
    let mut fields = json!({"type": "shell", "roles": "*", "parameters": {"cmd": "true"}});
    for (key, value) in more.as_object().expect("fields") {
        fields[key] = value.clone();
    }
    task(name, fields)
}

pub(crate) fn document(value: &Json) -> Document {
    Document::new(&parse(&value.to_string()).expect("JSON"))
}

pub(crate) fn node(uid: &str, tags: &[&str], own: Json) -> NodeInput {
    let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    NodeInput { uid: uid.to_owned(), tags, document: document(&own), record: None }
}

pub(crate) fn state(common: &Json, own: &Json) -> EffectiveState {
    EffectiveState { common: document(common), node: document(own) }
}

pub(crate) fn input<'a>(tasks: &'a [Task], common: &Json, nodes: &[NodeInput]) -> PlanningInput<'a> {
    PlanningInput::new(tasks, document(common), nodes.to_vec())
}

pub(crate) fn planned(input: &PlanningInput<'_>) -> Plan {
    plan(input).unwrap_or_else(|report| panic!("{:#?}", report.problems)).0
}

pub(crate) fn refused(input: &PlanningInput<'_>) -> PlanningReport {
    plan(input).expect_err("there should be no plan")
}

/// `task@node` of the instances that run, in order.
pub(crate) fn running(plan: &Plan) -> Vec<String> {
    let running = plan.instances().filter(|instance| instance.verdict.action() == InstanceAction::Run);
    running.map(|instance| instance.to_string()).collect()
}

/// `before -> after` for all edges, sorted.
pub(crate) fn edges(plan: &Plan) -> Vec<String> {
    let names: Vec<String> = plan.instances().map(|instance| instance.to_string()).collect();
    let mut edges: Vec<String> =
        plan.edges().map(|(from, to)| format!("{} -> {}", names[from.index()], names[to.index()])).collect();
    edges.sort();
    edges
}

pub(crate) fn old_of(states: &[(&str, EffectiveState)]) -> AppliedStates {
    let mut old = AppliedStates::default();
    for (uid, state) in states {
        old.set_node(uid, state.clone(), None);
    }
    old
}
