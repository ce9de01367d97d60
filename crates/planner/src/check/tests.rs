//! Damages a valid plan in every way the checks cover and expects each damage to be reported.

use std::sync::Arc;

use serde_json::json;
use stoker_graph::Csr;
use stoker_state::Document;

use stoker_model::{InstanceIdx, NodeIdx};

use super::*;
use crate::input::{NodeInput, PlanningInput};
use crate::plan::{DetailsIdx, Verdict};

/// `a` on nodes 1, 2, 3 with distinct details, before `b` on all; `c` is skipped; a stage; a group; a choice.
fn valid_plan() -> Plan {
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

fn assert_reported(damage: impl FnOnce(&mut Plan), code: &str, expected: &str) {
    let mut plan = valid_plan();
    damage(&mut plan);
    let findings = check(&plan);
    assert!(
        findings.iter().any(|finding| finding.code == code && finding.message.contains(expected)),
        "{code}: {expected}: {findings:#?}"
    );
}

fn with_edge(plan: &mut Plan, edge: (u32, u32)) {
    let edges = plan.order.edges().chain([edge]).collect();
    plan.order = Csr::new(plan.order.n_vertices(), edges);
}

#[test]
fn valid_plan_has_no_findings() {
    let plan = valid_plan();
    assert_eq!(check(&plan), []);
    assert!(plan.order.n_vertices() > plan.n_instances(), "the order has junction vertices");
    assert!(!plan.groups.is_empty() && !plan.choices.is_empty());
}

#[test]
fn invalid_numbering_is_reported() {
    assert_reported(|plan| plan.tasks.swap(0, 1), "numbers", "`a` is out of order");
    assert_reported(|plan| plan.tasks[1].name = "a".to_owned(), "numbers", "`a` is out of order");
    assert_reported(
        |plan| plan.tasks[1].first = InstanceIdx::at(plan.tasks[1].first.index() + 1),
        "numbers",
        "first instance of task `b` is 4, expected 3",
    );
    assert_reported(
        |plan| plan.tasks[0].nodes = Arc::new([0, 2, 1].map(NodeIdx::new)),
        "numbers",
        "do not ascend: 1 after 2",
    );
    assert_reported(
        |plan| plan.tasks[0].nodes = Arc::new([0, 1, 1].map(NodeIdx::new)),
        "numbers",
        "do not ascend: 1 after 1",
    );
    assert_reported(
        |plan| plan.tasks[0].nodes = Arc::new([0, 1, 9].map(NodeIdx::new)),
        "numbers",
        "on node index 9, but the plan has 5",
    );
    assert_reported(
        |plan| plan.tasks[0].nodes = Arc::new([0, 1].map(NodeIdx::new)),
        "numbers",
        "is 3, expected 2",
    );
    assert_reported(|plan| _ = plan.verdicts.pop(), "numbers", "12 verdicts");
    assert_reported(|plan| plan.details.push(None), "numbers", "14 details");
    assert_reported(|plan| plan.order = Csr::new(12, Vec::new()), "numbers", "12 vertices for 13");
    assert_reported(|plan| _ = plan.tasks.remove(4), "numbers", "has 12 instances");
}

#[test]
fn invalid_nodes_groups_and_choices_are_reported() {
    let rename = |plan: &mut Plan, node_idx: usize, uid: &str| {
        let mut nodes = plan.nodes.to_vec();
        uid.clone_into(&mut nodes[node_idx]);
        plan.nodes = nodes.into();
    };
    assert_reported(|plan| rename(plan, 4, "stage"), "nodes", "last two nodes");
    assert_reported(|plan| rename(plan, 0, "2"), "nodes", "`2` is listed twice");
    assert_reported(|plan| plan.groups[0].nodes[0] = "9".to_owned(), "groups", "unknown node `9`");
    assert_reported(|plan| plan.groups[0].nodes[0] = "2".to_owned(), "groups", "`2` twice");
    assert_reported(|plan| plan.groups[0].max_failed = 5, "groups", "5 failed nodes but has only 3");
    assert_reported(|plan| plan.choices[0].node = "9".to_owned(), "choices", "unknown node `9`");
    assert_reported(|plan| plan.choices[0].task = "z".to_owned(), "choices", "unknown task `z`");
}

#[test]
fn invalid_order_is_reported() {
    assert_reported(|plan| with_edge(plan, (0, 999)), "order", "from a@1 has a target out of range");
    assert_reported(|plan| with_edge(plan, (6, 6)), "order", "c@1 → c@1");
    // `b` waits for `a` through a junction vertex.
    assert_reported(|plan| with_edge(plan, (3, 0)), "order", "a@1 → b@1 → a@1");
    let junction = valid_plan().n_instances() as u32;
    assert_reported(|plan| with_edge(plan, (junction, junction)), "order", "connects two junction vertices");
}

#[test]
fn invalid_details_are_reported() {
    assert_reported(|plan| plan.details[0] = None, "details", "a@1 runs without details");
    assert_reported(|plan| plan.details[0] = Some(DetailsIdx::at(3)), "details", "a@1 runs without details");
    assert_reported(
        |plan| plan.details[0] = Some(DetailsIdx::at(1)),
        "details",
        "`a` has details that no instance uses",
    );
    assert_reported(
        |plan| plan.details[6] = Some(DetailsIdx::at(0)),
        "details",
        "c@1 is skipped but has details",
    );
    assert_reported(
        |plan| plan.verdicts[0] = Verdict::TypeSkipped,
        "details",
        "a@1 is skipped but has details",
    );
    assert_reported(|plan| plan.verdicts[6] = Verdict::ConditionHolds, "details", "c@1 runs without details");
    assert_reported(
        |plan| plan.verdicts[12] = Verdict::NoCondition,
        "details",
        "end@sync runs on a virtual node",
    );
    for type_name in ["", "stage", "group", "skipped", "poppet"] {
        assert_reported(
            |plan| type_name.clone_into(&mut plan.tasks[0].details[1].task_type),
            "type",
            "which has no executor",
        );
    }
}

#[test]
fn invalid_parameter_values_are_reported() {
    let set = |plan: &mut Plan, value: serde_json::Value| plan.tasks[1].details[0].parameters = value;
    let deep = json!({"x": [1, {"y": {"yaql_exp": "$"}}]});
    assert_reported(
        |plan| set(plan, deep),
        "computed",
        "parameters.x[1].y of task `b` is an unevaluated expression",
    );
    assert_reported(|plan| set(plan, json!({"yaql_exp": "$"})), "computed", "parameters of task `b`");
    for amount in [json!(-1), json!(1.5), json!("2"), json!([])] {
        let strategy = json!({"strategy": {"type": "parallel", "amount": amount}});
        assert_reported(|plan| set(plan, strategy), "strategy", "amount");
    }
    for strategy in [json!("parallel"), json!({"type": "sometimes"}), json!({})] {
        assert_reported(|plan| set(plan, json!({"strategy": strategy})), "strategy", "strategy of task `b`");
    }
    let mut plan = valid_plan();
    set(&mut plan, json!({"a": {"b": ["http://{MASTER_IP}/", "{OTHER}"]}, "regex": "{MASTER_IP}"}));
    let findings = check_placeholders(&plan, ["MASTER_IP", "CLUSTER_ID"]);
    let messages: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(messages, ["parameters.a.b[0] of task `b` still contains the placeholder {MASTER_IP}"]);
}

#[test]
fn repeated_findings_are_counted() {
    let mut plan = valid_plan();
    plan.groups[0].nodes = (0..30).map(|number| format!("n{number}")).collect();
    let findings = check(&plan);
    assert_eq!((findings.len(), findings[10].to_string().as_str()), (11, "20 more violations of this kind"));
}
