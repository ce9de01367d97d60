//! How long plans take.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use stoker_planner::{Action, Plan, UNKNOWN_MS, estimate, remaining};

use crate::plans::real_plans;
use crate::small::{input, node, planned, shell, task};

fn on_nodes(tasks: &[stoker_model::Task], n_nodes: usize) -> Plan {
    let nodes: Vec<_> = (1..=n_nodes).map(|number| node(&number.to_string(), &[], json!({}))).collect();
    planned(&input(tasks, &json!({}), &nodes))
}

#[test]
fn the_real_plan_takes_as_long_as_its_busiest_node() {
    let plans = real_plans();
    let Some((_, first_run)) = plans.iter().find(|(name, _)| name == "default-graph.yaml, first run") else {
        return;
    };
    let estimate = estimate(&first_run.plan, &|_, _| Some(1));
    assert_eq!((estimate.total_ms, estimate.critical_path.len(), estimate.critical_ms()), (119, 54, 54));
    assert_eq!((estimate.n_known, estimate.n_unknown), (351, 0));
    let remaining = remaining(&first_run.plan, &|_, _| Some(1));
    assert_eq!((remaining.len(), remaining.iter().max()), (455, Some(&54)));
}

fn check_total(strategy: &Json, n_nodes: usize, expected: u64) {
    let parameters = json!({"cmd": "true", "strategy": strategy});
    let plan = on_nodes(&[shell("a", json!({"parameters": parameters}))], n_nodes);
    assert_eq!(estimate(&plan, &|_, _| Some(10)).total_ms, expected, "{strategy}");
}

#[test]
fn strategies_are_kept() {
    check_total(&json!(null), 7, 10);
    check_total(&json!({"type": "parallel"}), 7, 10);
    check_total(&json!({"type": "parallel", "amount": 3}), 7, 30);
    check_total(&json!({"type": "one_by_one"}), 7, 70);
}

#[test]
fn a_node_does_other_things_while_a_strategy_makes_it_wait() {
    let one_by_one = json!({"parameters": {"cmd": "true", "strategy": {"type": "one_by_one"}}});
    let plan = on_nodes(&[shell("a", one_by_one), shell("b", json!({}))], 3);
    assert_eq!(estimate(&plan, &|_, _| Some(10)).total_ms, 30);
}

#[test]
fn what_most_is_waiting_for_starts_first() {
    let tasks = [
        shell("a", json!({})),
        shell("b", json!({})),
        shell("c", json!({"requires": ["b"], "roles": []})),
        task("d", json!({"type": "shell", "roles": "master", "cross_depends": [{"name": "b", "role": "*"}]})),
    ];
    let plan = on_nodes(&tasks, 1);
    let found = estimate(&plan, &|task, _| Some(if task == "d" { 100 } else { 10 }));
    assert_eq!(found.total_ms, 110, "b starts before a");
    let names: Vec<String> = found
        .critical_path
        .iter()
        .filter_map(|(idx, ms)| Some(format!("{} {ms}", plan.instance(*idx)?)))
        .collect();
    assert_eq!(names, ["b@1 10", "d@master 100"]);
}

#[test]
fn what_is_skipped_takes_no_time_but_keeps_the_order() {
    let tasks = [
        shell("a", json!({})),
        shell("b", json!({"requires": ["a"], "condition": false})),
        shell("c", json!({"cross_depends": [{"name": "b", "role": "*"}]})),
    ];
    let found = estimate(&on_nodes(&tasks, 4), &|_, _| Some(5));
    assert_eq!((found.total_ms, found.critical_path.len(), found.n_known), (10, 2, 8));
}

#[test]
fn unknown_durations_are_guessed_from_what_is_like() {
    let tasks = [
        shell("a", json!({})),
        shell("b", json!({"requires": ["a"]})),
        task("c", json!({"type": "puppet", "roles": "*", "requires": ["b"]})),
    ];
    let plan = on_nodes(&tasks, 3);
    let known: HashMap<(&str, &str), u64> =
        [(("a", "1"), 10), (("a", "2"), 30), (("a", "3"), 20)].into_iter().collect();
    let found = estimate(&plan, &|task, node| known.get(&(task, node)).copied());
    assert_eq!((found.n_known, found.n_unknown), (3, 6));
    assert_eq!(
        found.total_ms,
        30 + 20 + UNKNOWN_MS,
        "b takes the median of its type, c what nothing is known of"
    );
    let of_task = estimate(&plan, &|task, node| (task == "a" && node == "2").then_some(7));
    assert_eq!(of_task.total_ms, 7 + 7 + UNKNOWN_MS);
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
    /// No faster than what must be done in a row, no slower than everything in a row.
    #[test]
    fn estimates_are_between_their_bounds((plan, ms) in any_plan()) {
        let durations = |task: &str, node: &str| Some(ms + task.len() as u64 + node.parse::<u64>().unwrap_or(0) * 3);
        let found = estimate(&plan, &durations);
        let running = || plan.instances().filter(|instance| instance.verdict.action() == Action::Run);
        let ms_of = |instance: &stoker_planner::Instance<'_>| durations(instance.task, instance.node).unwrap_or(0);
        let mut by_node: HashMap<&str, u64> = HashMap::new();
        running().for_each(|instance| *by_node.entry(instance.node).or_default() += ms_of(&instance));
        let all: u64 = by_node.values().sum();
        prop_assert!(found.total_ms >= found.critical_ms());
        prop_assert!(found.total_ms >= by_node.values().copied().max().unwrap_or(0));
        prop_assert!(found.total_ms <= all);
        let remaining = remaining(&plan, &durations);
        prop_assert_eq!(remaining.iter().copied().max().unwrap_or(0), found.critical_ms());
        for (before, after) in plan.edges() {
            let own = plan.instance(before).map_or(0, |instance| ms_of(&instance));
            prop_assert!(remaining[before as usize] >= own + remaining[after as usize]);
        }
    }
}
