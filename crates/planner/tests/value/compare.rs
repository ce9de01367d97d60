//! Comparison of plans: equal differences on several nodes are reported once.

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use stoker_model::Task;
use stoker_planner::{ExplainedPlan, compare};

use crate::plans::{explained, mixed, real_plans};
use crate::small::{input, node, shell, task};

fn tasks(cmd: &str) -> Vec<Task> {
    let parameters = json!({"cmd": cmd, "password": cmd, "file": format!("{cmd}\nsecret"), "same": [1, 2]});
    vec![
        shell(
            "config",
            json!({"parameters": parameters, "cross_depends": [{"name": "prepare", "role": "*"}]}),
        ),
        shell("prepare", json!({"condition": {"yaql_exp": "$.debug"}})),
        shell("restart", json!({"requires": ["config"]})),
        task("workers", json!({"type": "group", "roles": ["worker"], "fault_tolerance": 1})),
    ]
}

fn plan_of(tasks: &[Task], settings: &Json, n_nodes: usize) -> ExplainedPlan {
    let nodes: Vec<_> =
        (1..=n_nodes).map(|number| node(&number.to_string(), &["worker"], json!({}))).collect();
    explained(&input(tasks, settings, &nodes))
}

fn render(before: &ExplainedPlan, after: &ExplainedPlan) -> String {
    let comparison = compare(before, after);
    format!("{comparison}\n\n{:#}", comparison.to_json())
}

#[test]
fn equal_plans_have_no_differences() {
    for (name, explained) in real_plans() {
        assert!(compare(&explained, &explained.clone()).is_empty(), "{name}");
    }
    assert_eq!(compare(&mixed(20), &mixed(20)).to_string(), "the plans are identical");
}

#[test]
fn equal_changes_are_grouped() {
    let before = plan_of(&tasks("one"), &json!({"debug": true}), 9);
    let mut changed = tasks("two");
    changed[2] = shell("restart", json!({"requires": ["prepare"]}));
    let after = plan_of(&changed, &json!({"debug": false}), 10);
    insta::assert_snapshot!(render(&before, &after));
}

#[test]
fn added_and_removed_tasks_and_groups() {
    let before = plan_of(&tasks("one"), &json!({"debug": true}), 2);
    let after = plan_of(&tasks("one")[..2], &json!({"debug": true}), 2);
    insta::assert_snapshot!(compare(&before, &after).to_string());
    insta::assert_snapshot!(compare(&after, &before).to_string());
}

#[test]
fn new_node_does_not_change_order_of_others() {
    let (before, after) = (mixed(400), mixed(401));
    let comparison = compare(&before, &after);
    assert_eq!((comparison.edges_added.n_edges, comparison.edges_removed.n_edges), (0, 0));
    assert!(comparison.changes.iter().all(|change| change.nodes == ["401"]), "{comparison}");
}

fn any_tasks() -> impl Strategy<Value = Vec<Task>> {
    let one = |number: usize| {
        (prop::collection::vec(0..6_usize, 0..3), any::<bool>()).prop_map(move |(before, is_cross)| {
            let names: Vec<String> =
                before.iter().filter(|other| **other < number).map(|other| format!("t{other}")).collect();
            let cross: Vec<Json> = names.iter().map(|name| json!({"name": name, "role": "*"})).collect();
            let fields = if is_cross { json!({"cross_depends": cross}) } else { json!({"requires": names}) };
            shell(&format!("t{number}"), fields)
        })
    };
    (0..6_usize).map(one).collect::<Vec<_>>()
}

proptest! {
    /// Counts of edges equal those of fully expanded edges.
    #[test]
    fn edge_counts_match_expanded_edges(a in any_tasks(), b in any_tasks(), n_before in 1..5_usize, n_after in 1..5_usize) {
        let (a, b) = (plan_of(&a, &json!({}), n_before), plan_of(&b, &json!({}), n_after));
        let edges = |plan: &ExplainedPlan, n_nodes: usize| {
            let names: Vec<(String, usize)> = plan
                .plan
                .instances()
                .map(|instance| (instance.to_string(), instance.node.parse().unwrap_or(0)))
                .collect();
            let edges = plan.plan.edges().map(|(from, to)| (&names[from.index()], &names[to.index()]));
            let edges = edges.filter(|(from, to)| from.1 <= n_nodes && to.1 <= n_nodes);
            edges.map(|(from, to)| (from.0.clone(), to.0.clone())).collect::<std::collections::BTreeSet<_>>()
        };
        let n_common = n_before.min(n_after);
        let (in_a, in_b) = (edges(&a, n_common), edges(&b, n_common));
        let comparison = compare(&a, &b);
        prop_assert_eq!(comparison.edges_added.n_edges, in_b.difference(&in_a).count());
        prop_assert_eq!(comparison.edges_removed.n_edges, in_a.difference(&in_b).count());
        prop_assert!(comparison.edges_added.samples.iter().all(|edge| in_b.contains(edge) && !in_a.contains(edge)));
        let back = compare(&b, &a);
        prop_assert_eq!(back.edges_added.n_edges, comparison.edges_removed.n_edges);
    }
}
