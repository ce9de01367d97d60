//! A good plan is damaged in every way, and each is found.

use std::sync::Arc;

use serde_json::json;
use stoker_graph::Csr;

use super::*;
use crate::input::{NodeInput, PlanningInput};
use crate::plan::Verdict;
use crate::state::Document;

/// `a` on 1, 2, 3 with details of their own, before `b` on all; `c` is skipped; a stage; a group; a choice.
fn good() -> Plan {
    let task = |name: &str, fields: serde_json::Value| stoker_model::Task {
        name: name.to_owned(),
        fields: fields.as_object().cloned().unwrap_or_default(),
    };
    let shell =
        json!({"strategy": {"type": "parallel", "amount": 2}, "list": [{"regex": {"yaql_exp": "kept"}}]});
    let tasks = [
        task("a", json!({"type": "shell", "roles": "*", "parameters": {"uid": {"yaql_exp": "$node.uid"}}})),
        task(
            "b",
            json!({"type": "shell", "roles": "*", "parameters": shell, "cross_depends": [{"name": "a"}]}),
        ),
        task("c", json!({"type": "shell", "roles": "*", "condition": false, "requires": ["a"]})),
        task("d", json!({"type": "shell", "roles": "x", "cross_depends": [{"name": "b", "policy": "any"}]})),
        task("end", json!({"type": "stage", "requires": ["c"]})),
        task("x", json!({"type": "group", "roles": "x"})),
    ];
    let node = |number: i64| NodeInput {
        uid: number.to_string(),
        tags: vec!["x".to_owned()],
        document: Document::new(&stoker_yaql::json::parse(&json!({"uid": number}).to_string()).unwrap()),
        ..NodeInput::default()
    };
    let input = PlanningInput::new(&tasks, Document::default(), (1..4).map(node).collect());
    crate::plan(&input).unwrap_or_else(|report| panic!("{report:#?}")).0
}

fn check_found(damage: impl FnOnce(&mut Plan), code: &str, expected: &str) {
    let mut plan = good();
    damage(&mut plan);
    let found = check(&plan);
    assert!(
        found.iter().any(|finding| finding.code == code && finding.message.contains(expected)),
        "{code}: {expected}: {found:#?}"
    );
}

fn with_edge(plan: &mut Plan, edge: (u32, u32)) {
    let edges = plan.order.edges().chain([edge]).collect();
    plan.order = Csr::new(plan.order.n_vertices(), edges);
}

#[test]
fn a_good_plan_is_good() {
    let plan = good();
    assert_eq!(check(&plan), []);
    assert!(plan.order.n_vertices() > plan.n_instances(), "sets meet in it");
    assert!(!plan.groups.is_empty() && !plan.choices.is_empty());
}

#[test]
fn numbers_that_are_wrong_are_found() {
    check_found(|plan| plan.tasks.swap(0, 1), "numbers", "`a` is out of order");
    check_found(|plan| plan.tasks[1].name = "a".to_owned(), "numbers", "`a` is out of order");
    check_found(|plan| plan.tasks[1].first += 1, "numbers", "first instance of task `b` is 4 and not 3");
    check_found(|plan| plan.tasks[0].nodes = Arc::new([0, 2, 1]), "numbers", "on node 1 after node 2");
    check_found(|plan| plan.tasks[0].nodes = Arc::new([0, 1, 1]), "numbers", "on node 1 after node 1");
    check_found(|plan| plan.tasks[0].nodes = Arc::new([0, 1, 9]), "numbers", "on node 9 of 5");
    check_found(|plan| plan.tasks[0].nodes = Arc::new([0, 1]), "numbers", "is 3 and not 2");
    check_found(|plan| _ = plan.verdicts.pop(), "numbers", "12 verdicts");
    check_found(|plan| plan.details.push(0), "numbers", "14 details");
    check_found(|plan| plan.order = Csr::new(12, Vec::new()), "numbers", "12 places for 13");
    check_found(|plan| _ = plan.tasks.remove(4), "numbers", "there are 12 instances");
}

#[test]
fn nodes_that_are_wrong_are_found() {
    let renamed = |plan: &mut Plan, place: usize, uid: &str| {
        let mut nodes = plan.nodes.to_vec();
        uid.clone_into(&mut nodes[place]);
        plan.nodes = nodes.into();
    };
    check_found(|plan| renamed(plan, 4, "stage"), "nodes", "last two nodes");
    check_found(|plan| renamed(plan, 0, "2"), "nodes", "`2` is there twice");
    check_found(|plan| plan.groups[0].nodes[0] = "9".to_owned(), "groups", "unknown node `9`");
    check_found(|plan| plan.groups[0].nodes[0] = "2".to_owned(), "groups", "`2` twice");
    check_found(|plan| plan.groups[0].tolerated = 5, "groups", "5 of the 3 nodes");
    check_found(|plan| plan.choices[0].node = "9".to_owned(), "choices", "unknown node `9`");
    check_found(|plan| plan.choices[0].task = "z".to_owned(), "choices", "unknown task `z`");
}

#[test]
fn orders_that_are_wrong_are_found() {
    check_found(|plan| with_edge(plan, (0, 999)), "order", "from a@1 leads out");
    check_found(|plan| with_edge(plan, (6, 6)), "order", "c@1 → c@1");
    // `b` waits for `a` through a place where sets meet.
    check_found(|plan| with_edge(plan, (3, 0)), "order", "a@1 → b@1 → a@1");
    let place = good().n_instances() as u32;
    check_found(|plan| with_edge(plan, (place, place)), "order", "joins two places");
}

#[test]
fn details_that_are_wrong_are_found() {
    check_found(|plan| plan.details[0] = u32::MAX, "details", "a@1 runs without details");
    check_found(|plan| plan.details[0] = 3, "details", "a@1 runs without details");
    check_found(|plan| plan.details[0] = 1, "details", "`a` has details that no instance has");
    check_found(|plan| plan.details[6] = 0, "details", "c@1 is skipped and has details");
    check_found(|plan| plan.verdicts[0] = Verdict::TypeSkipped, "details", "a@1 is skipped and has details");
    check_found(|plan| plan.verdicts[6] = Verdict::ConditionHolds, "details", "c@1 runs without details");
    check_found(|plan| plan.verdicts[12] = Verdict::NoCondition, "details", "end@sync runs where nothing");
    for word in ["", "stage", "group", "skipped", "poppet"] {
        check_found(
            |plan| word.clone_into(&mut plan.tasks[0].details[1].task_type),
            "type",
            "which nothing can run",
        );
    }
}

#[test]
fn values_that_are_wrong_are_found() {
    let set = |plan: &mut Plan, value: serde_json::Value| plan.tasks[1].details[0].parameters = value;
    let deep = json!({"x": [1, {"y": {"yaql_exp": "$"}}]});
    check_found(|plan| set(plan, deep), "computed", "parameters.x[1].y of task `b` is still an expression");
    check_found(|plan| set(plan, json!({"yaql_exp": "$"})), "computed", "parameters of task `b`");
    for amount in [json!(-1), json!(1.5), json!("2"), json!([])] {
        let strategy = json!({"strategy": {"type": "parallel", "amount": amount}});
        check_found(|plan| set(plan, strategy), "strategy", "amount");
    }
    for strategy in [json!("parallel"), json!({"type": "sometimes"}), json!({})] {
        check_found(|plan| set(plan, json!({"strategy": strategy})), "strategy", "strategy of task `b`");
    }
    let mut plan = good();
    set(&mut plan, json!({"a": {"b": ["http://{MASTER_IP}/", "{OTHER}"]}, "regex": "{MASTER_IP}"}));
    let found = check_placeholders(&plan, ["MASTER_IP", "CLUSTER_ID"]);
    let messages: Vec<&str> = found.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(messages, ["parameters.a.b[0] of task `b` still has {MASTER_IP}"]);
}

#[test]
fn many_of_one_kind_are_counted() {
    let mut plan = good();
    plan.groups[0].nodes = (0..30).map(|number| format!("n{number}")).collect();
    let found = check(&plan);
    assert_eq!((found.len(), found[10].to_string().as_str()), (11, "and 20 more like this"));
}
