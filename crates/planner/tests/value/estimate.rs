//! Estimated durations of plans.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use stoker_planner::{DEFAULT_DURATION_MS, InstanceAction, Plan, estimate, remaining};

use crate::plans::real_plans;
use crate::small::{input, node, planned, shell, task};

fn on_nodes(tasks: &[stoker_model::Task], n_nodes: usize) -> Plan {
    let nodes: Vec<_> = (1..=n_nodes).map(|number| node(&number.to_string(), &[], json!({}))).collect();
    planned(&input(tasks, &json!({}), &nodes))
}

#[test]
fn real_plan_is_bound_by_its_busiest_node() {
    let plans = real_plans();
    let Some((_, first_run)) = plans.iter().find(|(name, _)| name == "default-graph.yaml, first run") else {
        return;
    };
    let estimate = estimate(&first_run.plan, &|_, _| Some(1));
    assert_eq!((estimate.total_ms, estimate.critical_path.len(), estimate.critical_ms()), (119, 54, 54));
    assert_eq!((estimate.n_measured, estimate.n_estimated), (351, 0));
    let remaining = remaining(&first_run.plan, &|_, _| Some(1));
    assert_eq!((remaining.len(), remaining.iter().max()), (455, Some(&54)));
}

fn check_total(strategy: &Json, n_nodes: usize, expected: u64) {
    let parameters = json!({"cmd": "true", "strategy": strategy});
    let plan = on_nodes(&[shell("a", json!({"parameters": parameters}))], n_nodes);
    assert_eq!(estimate(&plan, &|_, _| Some(10)).total_ms, expected, "{strategy}");
}

#[test]
fn strategies_limit_concurrency() {
    check_total(&json!(null), 7, 10);
    check_total(&json!({"type": "parallel"}), 7, 10);
    check_total(&json!({"type": "parallel", "amount": 3}), 7, 30);
    check_total(&json!({"type": "one_by_one"}), 7, 70);
}

#[test]
fn node_runs_other_tasks_while_strategy_blocks() {
    let one_by_one = json!({"parameters": {"cmd": "true", "strategy": {"type": "one_by_one"}}});
    let plan = on_nodes(&[shell("a", one_by_one), shell("b", json!({}))], 3);
    assert_eq!(estimate(&plan, &|_, _| Some(10)).total_ms, 30);
}

#[test]
fn longest_remaining_chain_starts_first() {
    let tasks = [
        shell("a", json!({})),
        shell("b", json!({})),
        shell("c", json!({"requires": ["b"], "roles": []})),
        task("d", json!({"type": "shell", "roles": "master", "cross_depends": [{"name": "b", "role": "*"}]})),
    ];
    let plan = on_nodes(&tasks, 1);
    let result = estimate(&plan, &|task, _| Some(if task == "d" { 100 } else { 10 }));
    assert_eq!(result.total_ms, 110, "b starts before a");
    let names: Vec<String> = result
        .critical_path
        .iter()
        .filter_map(|(idx, ms)| Some(format!("{} {ms}", plan.instance(*idx)?)))
        .collect();
    assert_eq!(names, ["b@1 10", "d@master 100"]);
}

#[test]
fn skipped_instances_take_no_time_but_keep_the_order() {
    let tasks = [
        shell("a", json!({})),
        shell("b", json!({"requires": ["a"], "condition": false})),
        shell("c", json!({"cross_depends": [{"name": "b", "role": "*"}]})),
    ];
    let result = estimate(&on_nodes(&tasks, 4), &|_, _| Some(5));
    assert_eq!((result.total_ms, result.critical_path.len(), result.n_measured), (10, 2, 8));
}

#[test]
fn unknown_durations_use_medians() {
    let tasks = [
        shell("a", json!({})),
        shell("b", json!({"requires": ["a"]})),
        task("c", json!({"type": "puppet", "roles": "*", "requires": ["b"]})),
    ];
    let plan = on_nodes(&tasks, 3);
    let known: HashMap<(&str, &str), u64> =
        [(("a", "1"), 10), (("a", "2"), 30), (("a", "3"), 20)].into_iter().collect();
    let result = estimate(&plan, &|task, node| known.get(&(task, node)).copied());
    assert_eq!((result.n_measured, result.n_estimated), (3, 6));
    assert_eq!(
        result.total_ms,
        30 + 20 + DEFAULT_DURATION_MS,
        "b takes the median of its type, c the default"
    );
    let of_task = estimate(&plan, &|task, node| (task == "a" && node == "2").then_some(7));
    assert_eq!(of_task.total_ms, 7 + 7 + DEFAULT_DURATION_MS);
    assert_eq!(estimate(&on_nodes(&[], 3), &|_, _| None).total_ms, 0);
}

pub(crate) fn any_plan() -> impl Strategy<Value = (Plan, u64)> {
    let any_task = |number: usize| {
        (prop::collection::vec(0..number.max(1), 0..3), 0..4_u64, any::<bool>()).prop_map(
            move |(before, amount, is_cross)| {
                let names = before.iter().filter(|other| **other < number).map(|other| format!("t{other}"));
                let names: Vec<String> = names.collect();
                let cross: Vec<Json> = names.iter().map(|name| json!({"name": name, "role": "*"})).collect();
                let strategy = json!({"type": "parallel", "amount": amount});
                let parameters = json!({"cmd": "true", "strategy": strategy});
                let relation =
                    if is_cross { json!({"cross_depends": cross}) } else { json!({"requires": names}) };
                let mut fields = relation;
                fields["parameters"] = parameters;
                shell(&format!("t{number}"), fields)
            },
        )
    };
    let tasks = (1..8_usize).prop_flat_map(move |n_tasks| (0..n_tasks).map(any_task).collect::<Vec<_>>());
    (tasks, 1..6_usize, 1..50_u64).prop_map(|(tasks, n_nodes, ms)| (on_nodes(&tasks, n_nodes), ms))
}

proptest! {
    /// At least the critical path and the busiest node, at most the sum of all durations.
    #[test]
    fn estimates_are_between_their_bounds((plan, ms) in any_plan()) {
        let durations = |task: &str, node: &str| Some(ms + task.len() as u64 + node.parse::<u64>().unwrap_or(0) * 3);
        let result = estimate(&plan, &durations);
        let running = || plan.instances().filter(|instance| instance.verdict.action() == InstanceAction::Run);
        let ms_of = |instance: &stoker_planner::Instance<'_>| durations(instance.task, instance.node).unwrap_or(0);
        let mut by_node: HashMap<&str, u64> = HashMap::new();
        running().for_each(|instance| *by_node.entry(instance.node).or_default() += ms_of(&instance));
        let sum: u64 = by_node.values().sum();
        prop_assert!(result.total_ms >= result.critical_ms());
        prop_assert!(result.total_ms >= by_node.values().copied().max().unwrap_or(0));
        prop_assert!(result.total_ms <= sum);
        let remaining = remaining(&plan, &durations);
        prop_assert_eq!(remaining.iter().copied().max().unwrap_or(0), result.critical_ms());
        for (before, after) in plan.edges() {
            let own = plan.instance(before).map_or(0, |instance| ms_of(&instance));
            prop_assert!(remaining[before.index()] >= own + remaining[after.index()]);
        }
    }
}
