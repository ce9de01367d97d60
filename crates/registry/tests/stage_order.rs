//! Order of stage tasks.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use stoker_registry::stages::{OrderNote, OrderedTask, StageError, StagePlugin, notes, order_tasks};

fn tasks(stages: &[&str]) -> Vec<Json> {
    stages
        .iter()
        .map(|stage| json!({"type": "shell", "role": "*", "stage": stage, "parameters": {}}))
        .collect()
}

fn plugin<'a>(name: &'a str, tasks: &'a [Json]) -> StagePlugin<'a> {
    StagePlugin { name, version: "1.0.0", package_version: "2.0.0", tasks, graph_tasks: &[] }
}

fn sequence(plugins: &[StagePlugin<'_>]) -> Vec<(String, usize)> {
    order_tasks(plugins).unwrap().iter().map(|task| (task.plugin.to_owned(), task.task_idx)).collect()
}

fn names(expected: &[(&str, usize)]) -> Vec<(String, usize)> {
    expected.iter().map(|(name, task_idx)| ((*name).to_owned(), *task_idx)).collect()
}

#[test]
fn design_example_is_ordered_numerically() {
    let first =
        tasks(&["pre_deployment", "pre_deployment/100", "pre_deployment/-100", "pre_deployment/-99.9"]);
    let second =
        tasks(&["pre_deployment", "pre_deployment/100.0", "pre_deployment/-101", "pre_deployment/0"]);
    let expected = names(&[
        ("plugin2", 2),
        ("plugin1", 2),
        ("plugin1", 3),
        ("plugin1", 0),
        ("plugin2", 0),
        ("plugin2", 3),
        ("plugin1", 1),
        ("plugin2", 1),
    ]);
    assert_eq!(sequence(&[plugin("plugin1", &first), plugin("plugin2", &second)]), expected);
    assert_eq!(sequence(&[plugin("plugin2", &second), plugin("plugin1", &first)]), expected);
}

#[test]
fn design_acceptance_cases() {
    let at = |stage: &str| tasks(&[stage]);
    let (low, high) = (at("pre_deployment/100"), at("pre_deployment/200"));
    assert_eq!(sequence(&[plugin("a", &high), plugin("z", &low)]), names(&[("z", 0), ("a", 0)]));
    assert_eq!(sequence(&[plugin("z", &low), plugin("a", &low)]), names(&[("a", 0), ("z", 0)]));
    let (none, zero) = (at("pre_deployment"), at("pre_deployment/0"));
    assert_eq!(sequence(&[plugin("b", &none), plugin("a", &zero)]), names(&[("a", 0), ("b", 0)]));
    let both = tasks(&["post_deployment/-1000", "pre_deployment/9000"]);
    assert_eq!(sequence(&[plugin("a", &both)]), names(&[("a", 1), ("a", 0)]));
    let ten = at("pre_deployment");
    let byte_by_byte = ["p-x", "p10", "p2", "p_x", "px"];
    let plugins: Vec<StagePlugin<'_>> = byte_by_byte.iter().rev().map(|name| plugin(name, &ten)).collect();
    assert_eq!(sequence(&plugins).into_iter().map(|(name, _)| name).collect::<Vec<_>>(), byte_by_byte);
}

#[test]
fn all_errors_are_reported() {
    let invalid = vec![
        json!({}),
        json!({"stage": 1}),
        json!({"stage": "deploy"}),
        json!({"stage": "pre_deployment/x"}),
    ];
    let valid = tasks(&["pre_deployment"]);
    let error = |plugin: &str, task_idx: usize, code| StageError {
        plugin: plugin.into(),
        task_idx: Some(task_idx),
        code,
    };
    assert_eq!(
        order_tasks(&[plugin("z", &invalid), plugin("m", &valid), plugin("a", &invalid[..1])]).unwrap_err(),
        [
            error("a", 0, "stage_missing"),
            error("z", 0, "stage_missing"),
            error("z", 1, "stage_not_string"),
            error("z", 2, "stage_unknown"),
            error("z", 3, "stage_bad_postfix"),
        ]
    );
    let duplicate = order_tasks(&[plugin("z", &invalid), plugin("z", &valid)]).unwrap_err();
    assert_eq!(duplicate, [StageError { plugin: "z".into(), task_idx: None, code: "duplicate_plugin" }]);
}

#[test]
fn notes_report_ties_and_reserved_numbers() {
    let (one, two) = (tasks(&["pre_deployment/7000", "pre_deployment/1"]), tasks(&["pre_deployment/7000.0"]));
    let ordered = order_tasks(&[plugin("b", &one), plugin("a", &two)]).unwrap();
    let stage = ordered[1].stage;
    assert_eq!(
        notes(&ordered),
        [
            OrderNote::Reserved { stage, plugin: "a" },
            OrderNote::Reserved { stage, plugin: "b" },
            OrderNote::Tie { stage, plugins: vec!["a", "b"] },
        ]
    );
    assert_eq!(ordered[0].range().as_str(), "hardware");
    assert_eq!(notes(&order_tasks(&[plugin("b", &one[1..])]).unwrap()), []);
}

fn with_roles(stage: &str, role: &Json) -> Json {
    json!({"type": "shell", "role": role, "stage": stage, "parameters": {"cmd": "true"}})
}

fn stage_texts() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        Just(String::new()),
        (-3i32..3).prop_map(|number| format!("/{number}")),
        (-3i32..3).prop_map(|number| format!("/{number}.0")),
        (-300i32..300).prop_map(|number| format!("/{}.{}", number / 100, number.abs() % 100)),
    ];
    (prop::sample::select(vec!["pre_deployment", "post_deployment"]), number)
        .prop_map(|(name, number)| name.to_owned() + &number)
}

fn plugin_sets() -> impl Strategy<Value = BTreeMap<String, Vec<Json>>> {
    let role = prop::sample::select(vec![
        json!("*"),
        json!("master"),
        json!(["compute"]),
        json!(["nobody"]),
        json!([]),
    ]);
    let task = (stage_texts(), role).prop_map(|(stage, role)| with_roles(&stage, &role));
    prop::collection::btree_map("[a-c][0-9_-]{0,2}", prop::collection::vec(task, 0..6), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn order_is_total_and_independent_of_the_input(sets in plugin_sets()) {
        let mut plugins: Vec<StagePlugin<'_>> = sets.iter().map(|(name, tasks)| plugin(name, tasks)).collect();
        let tasks_in_order = sequence(&plugins);
        prop_assert_eq!(tasks_in_order.len(), sets.values().map(Vec::len).sum::<usize>());
        prop_assert_eq!(tasks_in_order.iter().collect::<BTreeSet<_>>().len(), tasks_in_order.len());
        plugins.reverse();
        prop_assert_eq!(&sequence(&plugins), &tasks_in_order);
        let ordered = order_tasks(&plugins).unwrap();
        for pair in ordered.windows(2) {
            let key = |task: &OrderedTask<'_>| (task.stage.name, task.stage.number());
            prop_assert!(key(&pair[0]) <= key(&pair[1]));
            if key(&pair[0]) == key(&pair[1]) {
                prop_assert!((pair[0].plugin, pair[0].task_idx) < (pair[1].plugin, pair[1].task_idx));
            }
        }
    }

    #[test]
    fn removing_a_plugin_does_not_reorder_the_others(sets in plugin_sets()) {
        let plugins: Vec<StagePlugin<'_>> = sets.iter().map(|(name, tasks)| plugin(name, tasks)).collect();
        let whole = sequence(&plugins);
        for removed in &plugins {
            let rest: Vec<StagePlugin<'_>> = plugins.iter().filter(|plugin| plugin.name != removed.name).copied().collect();
            let expected: Vec<(String, usize)> = whole.iter().filter(|(name, _)| name != removed.name).cloned().collect();
            prop_assert_eq!(sequence(&rest), expected);
        }
    }
}
