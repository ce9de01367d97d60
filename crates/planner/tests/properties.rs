//! Properties that hold for every plan.

use crate::small;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use small::{document, node};
use stoker_graph::NamePattern;
use stoker_model::Task;
use stoker_planner::{EvaluationSettings, NodeInput, Plan, PlanScope, PlanningInput, plan};

const TAGS: &[&str] = &["primary-controller", "controller", "compute", "storage"];
const NODE_NAMES: &[&str] = &[
    "*",
    "master",
    "primary-controller",
    "/(primary-)?controller/",
    "compute",
    "/comp/",
    "storage",
    "nobody",
];

fn node_names() -> impl Strategy<Value = Json> {
    let name = || prop::sample::select(NODE_NAMES).prop_map(Json::from);
    prop_oneof![name(), prop::collection::vec(name(), 0..3).prop_map(Json::Array)]
}

fn relation(n_tasks: usize) -> impl Strategy<Value = Json> {
    let name = prop_oneof![
        (0..n_tasks).prop_map(|task| format!("t{task}")),
        (0..n_tasks).prop_map(|task| format!("/t{}/", task % 3)),
        Just("unknown".to_owned()),
    ];
    let role = prop_oneof![
        Just(None),
        Just(Some(Json::Null)),
        Just(Some(Json::from("self"))),
        node_names().prop_map(Some),
    ];
    (name, role, any::<bool>()).prop_map(|(name, role, is_any)| {
        let mut relation = json!({"name": name});
        if let Some(role) = role {
            relation["role"] = role;
        }
        if is_any {
            relation["policy"] = "any".into();
        }
        relation
    })
}

fn task(number: usize, n_tasks: usize) -> impl Strategy<Value = Task> {
    let names = || prop::collection::vec((0..n_tasks).prop_map(|task| format!("t{task}")), 0..3);
    let relations = || prop::collection::vec(relation(n_tasks), 0..2);
    let kind = prop_oneof![6 => Just("shell"), 1 => Just("stage"), 1 => Just("skipped"), 1 => Just("group")];
    let condition =
        prop::sample::select(vec!["true", "$.uid = '1'", "changed($.x)", "$.own > 1", "'compute' in $.tags"]);
    (kind, node_names(), names(), names(), relations(), relations(), condition).prop_map(
        move |(kind, node_names, requires, required_for, depends, depended_by, condition)| {
            let mut fields = json!({
                "type": kind, "roles": node_names, "requires": requires, "required_for": required_for,
                "cross_depends": depends, "cross_depended_by": depended_by, "condition": {"yaql_exp": condition},
            });
            if kind == "group" {
                fields["tasks"] = json!([format!("t{}", (number + 1) % n_tasks)]);
            }
            small::task(&format!("t{number}"), fields)
        },
    )
}

fn graph() -> impl Strategy<Value = Vec<Task>> {
    (1_usize..9).prop_flat_map(|n_tasks| (0..n_tasks).map(|number| task(number, n_tasks)).collect::<Vec<_>>())
}

fn fleet() -> impl Strategy<Value = Vec<NodeInput>> {
    let tags = prop::collection::vec(prop::sample::select(TAGS), 0..3);
    prop::collection::vec((tags, 0_i64..3), 0..6).prop_map(|nodes| {
        let nodes = nodes.into_iter().enumerate();
        nodes
            .map(|(number, (tags, own))| {
                let uid = (number + 1).to_string();
                node(&uid, &tags, json!({"uid": uid, "own": own, "tags": tags}))
            })
            .collect()
    })
}

fn planned(tasks: &[Task], nodes: &[NodeInput], n_threads: usize) -> Option<Plan> {
    let common = document(&json!({"x": 1, "tags": [], "own": 0, "uid": "none"}));
    let settings = EvaluationSettings { n_threads, ..EvaluationSettings::default() };
    let input = PlanningInput { settings, ..PlanningInput::new(tasks, common, nodes.to_vec()) };
    plan(&input).ok().map(|(plan, _)| plan)
}

type Edges = BTreeSet<(String, String)>;

fn edges(plan: &Plan) -> Edges {
    let names: Vec<String> = plan.instances().map(|instance| instance.to_string()).collect();
    plan.edges().map(|(from, to)| (names[from.index()].clone(), names[to.index()].clone())).collect()
}

/// Edges computed naively, instance by instance.
fn naive_edges(tasks: &[Task], nodes: &[NodeInput], plan: &Plan) -> Edges {
    let instances: Vec<(String, String)> =
        plan.instances().map(|instance| (instance.task.to_owned(), instance.node.to_owned())).collect();
    let uids: Vec<&str> = nodes.iter().map(|node| node.uid.as_str()).collect();
    let resolve = |node_names: &Json| -> Vec<&str> {
        let names: Vec<&str> = match node_names {
            Json::Array(items) => items.iter().filter_map(Json::as_str).collect(),
            single => single.as_str().into_iter().collect(),
        };
        let matches_node = |node: &NodeInput, name: &str| {
            name == "*"
                || node
                    .tags
                    .iter()
                    .any(|tag| NamePattern::new(name).is_ok_and(|pattern| pattern.matches(tag)))
        };
        let mut uids: Vec<&str> = nodes
            .iter()
            .filter(|node| names.iter().any(|name| matches_node(node, name)))
            .map(|node| &*node.uid)
            .collect();
        uids.extend(names.contains(&"master").then_some("master"));
        uids
    };
    let is_named = |name: &str, task: &str| NamePattern::new(name).is_ok_and(|pattern| pattern.matches(task));
    let mut edges = Edges::new();
    for (task, uid) in &instances {
        let fields = &tasks.iter().find(|candidate| candidate.name == *task).expect("a task").fields;
        let mut add = |other: &(String, String), is_before: bool| {
            let (own, other) = (format!("{task}@{uid}"), format!("{}@{}", other.0, other.1));
            if own != other {
                edges.insert(if is_before { (other, own) } else { (own, other) });
            }
        };
        for (field, is_before) in [("requires", true), ("required_for", false)] {
            for name in fields[field].as_array().expect("names").iter().filter_map(Json::as_str) {
                let on_same_node = |other: &&(String, String)| {
                    is_named(name, &other.0) && (other.1 == *uid || other.1 == "sync")
                };
                instances.iter().filter(on_same_node).for_each(|other| add(other, is_before));
            }
        }
        for (field, is_before) in [("cross_depends", true), ("cross_depended_by", false)] {
            for relation in fields[field].as_array().expect("relations") {
                let name = relation["name"].as_str().expect("a name");
                let is_any = relation.get("policy").is_some();
                let mut reached: Vec<&str> = match relation.get("role") {
                    None => uids.clone(),
                    Some(Json::Null) if !is_any => vec!["sync"],
                    Some(Json::String(role)) if role == "self" && !is_any => vec![uid],
                    Some(node_names) => resolve(node_names),
                };
                if is_any {
                    let has_task = |node: &&str| {
                        instances
                            .iter()
                            .any(|other| is_named(name, &other.0) && other.0 != *task && other.1 == **node)
                    };
                    let order = |node: &&str| uids.iter().position(|uid| uid == node).unwrap_or(usize::MAX);
                    reached = reached.into_iter().filter(has_task).min_by_key(order).into_iter().collect();
                }
                let across = |other: &&(String, String)| {
                    is_named(name, &other.0) && reached.contains(&other.1.as_str())
                };
                instances.iter().filter(across).for_each(|other| add(other, is_before));
            }
        }
    }
    edges
}

/// Ends a case that has no plan. It counts against `max_global_rejects`.
fn reject() -> Result<(), TestCaseError> {
    Err(TestCaseError::reject("no plan"))
}

fn verdicts(plan: &Plan) -> BTreeMap<String, stoker_planner::Verdict> {
    plan.instances().map(|instance| (instance.to_string(), instance.verdict)).collect()
}

proptest! {
    // A graph with a cycle has no plan and is rejected; the properties must hold for at least half of the graphs.
    #![proptest_config(ProptestConfig {
        cases: 400, max_global_rejects: 400, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn planner_decides_as_a_plain_evaluation(data in prop::collection::vec(any::<u8>(), 0..250)) {
        crate::choices::check(&data);
    }

    /// Damaged text of real extras gets further into decoding than random bytes.
    #[test]
    fn damaged_extras_are_rejected_or_stored_unchanged(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let mut text = include_bytes!("../../../fuzz/corpus/extras/example").to_vec();
        for (at, byte) in changes {
            let at = at.index(text.len());
            text[at] = byte;
        }
        crate::extras::check(&text);
    }

    #[test]
    fn junction_edges_equal_naive_edges(tasks in graph(), nodes in fleet()) {
        let Some(plan) = planned(&tasks, &nodes, 1) else { return reject() };
        prop_assert_eq!(edges(&plan), naive_edges(&tasks, &nodes, &plan));
    }

    #[test]
    fn plan_is_independent_of_input_order_and_threads(tasks in graph(), nodes in fleet()) {
        let (mut other_tasks, mut other_nodes) = (tasks.clone(), nodes.clone());
        other_tasks.reverse();
        other_nodes.reverse();
        prop_assert_eq!(planned(&tasks, &nodes, 1), planned(&other_tasks, &other_nodes, 3));
    }

    #[test]
    fn unrelated_task_changes_no_other_instance(tasks in graph(), nodes in fleet()) {
        let mut more = tasks.clone();
        more.push(small::shell("zzz", json!({})));
        let (Some(plan), Some(with_more)) = (planned(&tasks, &nodes, 1), planned(&more, &nodes, 1)) else { return reject() };
        let mut others = verdicts(&with_more);
        others.retain(|instance, _| !instance.starts_with("zzz@"));
        prop_assert_eq!(verdicts(&plan), others);
        prop_assert_eq!(edges(&plan), edges(&with_more));
    }

    #[test]
    fn skipping_never_relaxes_the_order(tasks in graph(), nodes in fleet()) {
        let Some(plan) = planned(&tasks, &nodes, 1) else { return reject() };
        let common = document(&json!({"x": 1, "tags": [], "own": 0, "uid": "none"}));
        let request = PlanScope { tasks: Some(vec!["t0".to_owned()]), ..PlanScope::default() };
        let input = PlanningInput { request, ..PlanningInput::new(&tasks, common, nodes) };
        let (fewer, _) = stoker_planner::plan(&input).expect("a plan");
        prop_assert_eq!(edges(&plan), edges(&fewer));
    }
}
