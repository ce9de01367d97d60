//! Digests identify the inputs that changed.

use serde_json::json;
use stoker_planner::{InputDigests, PlanScope, PlanningInput, input_digests};
use stoker_state::Document;

use crate::small::{document, input, node, old_of, shell, state, task};

fn check(change: impl FnOnce(&mut PlanningInput<'_>), expected: &[&str]) {
    let tasks = [shell("a", json!({})), shell("b", json!({"parameters": {"n": 1, "m": 2}}))];
    let nodes = [node("1", &["x"], json!({"own": 1})), node("2", &["x", "y"], json!({"own": 2}))];
    let before = input(&tasks, &json!({"debug": true, "list": [1, 2]}), &nodes);
    let mut after = before.clone();
    change(&mut after);
    let (before, after) = (input_digests(&before), input_digests(&after));
    assert_eq!(before.differences(&after), expected);
    assert_eq!(after.differences(&before), expected, "the comparison is symmetric");
    assert_eq!(before == after, expected.is_empty());
    let text = serde_json::to_string(&after).expect("JSON");
    assert_eq!(serde_json::from_str::<InputDigests>(&text).expect("digests"), after);
}

#[test]
fn changed_inputs_are_named() {
    check(|_| {}, &[]);
    check(
        |input| input.common = document(&json!({"debug": false, "list": [1, 2]})),
        &["the setting `debug` of all nodes"],
    );
    check(
        |input| input.common = document(&json!({"list": [2, 1], "more": null})),
        &[
            "the setting `debug` of all nodes",
            "the setting `list` of all nodes",
            "the setting `more` of all nodes",
        ],
    );
    check(|input| input.nodes[1].document = document(&json!({"own": 3})), &["node 2"]);
    check(|input| input.nodes[0].tags.push("z".into()), &["node 1"]);
    check(|input| input.nodes[0].record = Some("ready".into()), &["node 1"]);
    check(|input| input.nodes.truncate(0), &["nodes 1, 2"]);
    check(|input| input.master = Document::default(), &["node master"]);
    check(|input| input.request.force = true, &["the `force` option"]);
    check(|input| input.request.nodes = Some(Vec::new()), &["the selected nodes"]);
    check(|input| input.request.tasks = Some(vec!["a".into()]), &["the selected tasks"]);
    check(|input| input.node_filter = Some("$.x"), &["the node filter of the graph"]);
}

/// Expressions treat these as equal, but a task that prints them does not.
#[test]
fn equal_but_not_identical_values_differ() {
    let setting = "the setting `debug` of all nodes";
    for other in [json!(1), json!(1.0)] {
        check(|input| input.common = document(&json!({"debug": other, "list": [1, 2]})), &[setting]);
    }
    let list = "the setting `list` of all nodes";
    for other in [json!([true, 2]), json!([1.0, 2]), json!([1, 2.0])] {
        check(|input| input.common = document(&json!({"debug": true, "list": other})), &[list]);
    }
    check(|input| input.nodes[0].document = document(&json!({"own": true})), &["node 1"]);
    let tasks = [shell("a", json!({}))];
    let nodes = [node("1", &[], json!({}))];
    let digests = |value: &serde_json::Value| {
        let old = old_of(&[("1", state(&json!({"x": value}), &json!({})))]);
        input_digests(&PlanningInput { old: Some(&old), ..input(&tasks, &json!({}), &nodes) })
    };
    let changed = digests(&json!(1)).differences(&digests(&json!(true)));
    assert_eq!(changed, ["the last successful state of node 1"]);
}

#[test]
fn irrelevant_changes_are_ignored() {
    check(|input| input.nodes.reverse(), &[]);
    check(|input| input.nodes[1].tags.reverse(), &[]);
    check(|input| input.common = document(&json!({"list": [1, 2], "debug": true})), &[]);
    check(|input| input.settings.n_threads = 9, &[]);
    check(|input| input.settings.now_micros = 9, &[]);
    check(|input| input.node_filter = Some("  "), &[]);
}

#[test]
fn tasks_are_compared_by_representation() {
    let digests = |fields| input_digests(&input(&[task("a", fields)], &json!({}), &[]));
    let one = digests(json!({"n": 1, "m": {"x": [1, "1"]}}));
    assert_eq!(one, digests(json!({"m": {"x": [1, "1"]}, "n": 1})));
    for other in
        [json!({"n": true, "m": {"x": [1, "1"]}}), json!({"n": 1, "m": {"x": ["1", 1]}}), json!({"n": 1})]
    {
        assert_eq!(one.differences(&digests(other)), ["task `a`"]);
    }
    assert_eq!(
        one.differences(&InputDigests { request: one.request.clone(), ..InputDigests::default() }),
        ["task `a`", "node master"]
    );
}

#[test]
fn old_states_are_named_by_node() {
    let tasks = [shell("a", json!({}))];
    let nodes: Vec<_> = (1..=8).map(|number| node(&number.to_string(), &[], json!({}))).collect();
    let uids: Vec<String> = nodes.iter().map(|node| node.uid.clone()).collect();
    let past = |value: i32| {
        let states = uids.iter().map(|uid| (uid.as_str(), state(&json!({"x": value}), &json!({}))));
        old_of(&states.collect::<Vec<_>>())
    };
    let (one, two) = (past(1), past(2));
    let mut late = one.clone();
    late.set_tasks(["a"], "3", None);
    let with = |old| PlanningInput { old: Some(old), ..input(&tasks, &json!({}), &nodes) };
    let digests = |old| input_digests(&with(old));
    assert_eq!(digests(&one).differences(&digests(&late)), ["the last successful state of node 3"]);
    let all = "the last successful state of nodes 1, 2, 3, 4, 5 and 3 more";
    assert_eq!(digests(&one).differences(&digests(&two)), [all]);
    let forced =
        |old| PlanningInput { request: PlanScope { force: true, ..PlanScope::default() }, ..with(old) };
    assert_eq!(input_digests(&forced(&one)), input_digests(&forced(&two)), "`force` ignores old states");
}

/// Helpers that the graph calls, directly or through another helper, are part of the plan's input.
#[test]
fn called_helpers_are_included() {
    let library = |outer: &str, inner: &str, other: &str| {
        let function = |name: &str, body: &str| {
            let function = stoker_yaql::library::ExpressionFunction {
                signature: format!("f {name}(x: any)"),
                params: vec!["x".into()],
                defaults: vec![None],
                doc: String::new(),
                examples: Vec::new(),
                body: body.into(),
                purity: stoker_yaql::library::Purity::Pure,
            };
            std::sync::Arc::new(function) as std::sync::Arc<dyn stoker_yaql::library::Function>
        };
        let functions = [function("outer", outer), function("inner", inner), function("other", other)];
        std::sync::Arc::new(stoker_planner::library().with_layer(functions, &[]).expect("signatures"))
    };
    let tasks =
        [shell("a", json!({"condition": {"yaql_exp": "outer($.n) > 1"}, "parameters": {"cmd": "other"}}))];
    let of = |library| {
        let mut input = input(&tasks, &json!({"n": 1}), &[node("1", &["x"], json!({}))]);
        input.library = library;
        input_digests(&input)
    };
    let before = of(library("inner($x) + 1", "$x * 2", "$x"));
    assert_eq!(before.differences(&of(library("inner($x) + 1", "$x * 2", "$x + 1"))), Vec::<String>::new());
    assert_eq!(before.differences(&of(library("inner($x) + 1", "$x * 3", "$x"))), ["helper `inner`"]);
    let both = of(library("inner($x) + 2", "$x * 3", "$x"));
    assert_eq!(before.differences(&both), ["helper `inner`", "helper `outer`"]);
    let without = of(stoker_planner::library());
    assert_eq!(before.differences(&without), ["helper `inner`", "helper `outer`"]);
}
