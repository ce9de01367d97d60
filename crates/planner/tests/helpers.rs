//! User-defined helpers in every field that is computed.

use crate::small;

use std::sync::Arc;

use serde_json::json;
use small::{input, node, old_of, planned, refused, running, shell, state, task};
use stoker_helpers::{HelperFile, load};
use stoker_model::InstanceIdx;
use stoker_planner::{NodeInput, PlanningInput, Reasons, codes};
use stoker_yaql::Library;
use stoker_yaql::json::parse;

const FILE: &str = "
functions:
  - name: moved
    parameters: [key]
    body: changed($.get($key))
  - name: needsRestart
    body: moved('x') or rackIsNew()
  - name: rackIsNew
    body: old($.rack).isUndef() or changed($.rack)
  - name: onRack
    parameters: [rack]
    body: new($.rack) = $rack
  - name: big
    style: method
    parameters: [{name: size, type: integer}]
    body: $size > 10
  - name: again
    parameters: [{name: depth, type: integer}]
    body: switch($depth <= 0 => changed($.rack), true => again($depth - 1))
";

fn library() -> Arc<Library> {
    let loaded = load(&[HelperFile { name: "own.yaml", text: FILE }], &stoker_planner::library());
    assert_eq!(loaded.problems, []);
    loaded.library.expect("a library")
}

fn nodes() -> Vec<NodeInput> {
    let own = |uid: &str, rack: i64| json!({"uid": uid, "rack": rack, "size": rack * 6});
    vec![node("1", &["a"], own("1", 1)), node("2", &["a"], own("2", 1)), node("3", &["a"], own("3", 2))]
}

fn condition(text: &str) -> stoker_model::Task {
    shell("t", json!({"condition": {"yaql_exp": text}}))
}

/// Instances of one task that run if node 2 was in another rack before and node 3 is new.
fn runs(text: &str, old_x: i64) -> Vec<String> {
    let tasks = [condition(text)];
    let before = json!({"x": old_x});
    let own = |uid: &str, rack: i64| state(&before, &json!({"uid": uid, "rack": rack, "size": 6}));
    let old = old_of(&[("1", own("1", 1)), ("2", own("2", 7))]);
    let input =
        PlanningInput { library: library(), old: Some(&old), ..input(&tasks, &json!({"x": 5}), &nodes()) };
    running(&planned(&input))
}

#[test]
fn helper_bodies_read_both_states_per_node() {
    assert_eq!(runs("moved(x)", 5), ["t@3"]);
    assert_eq!(runs("moved(x)", 4), ["t@1", "t@2", "t@3"]);
    assert_eq!(runs("moved(rack)", 5), ["t@2", "t@3"]);
    assert_eq!(runs("needsRestart()", 5), ["t@2", "t@3"]);
    assert_eq!(runs("needsRestart()", 4), ["t@1", "t@2", "t@3"]);
    assert_eq!(runs("onRack(1)", 5), ["t@1", "t@2"]);
    assert_eq!(runs("$.size.big()", 5), ["t@3"]);
    assert_eq!(runs("again(3)", 5), ["t@2", "t@3"]);
}

#[test]
fn every_field_can_call_helpers() {
    let tasks = [
        task(
            "a",
            json!({
                "type": {"yaql_exp": "switch(onRack(1) => shell, true => skipped)"},
                "roles": "*",
                "parameters": {"big": {"yaql_exp": "$.size.big()"}},
            }),
        ),
        shell("b", json!({"requires": {"yaql_exp": "switch(onRack(2) => [a], true => [])"}})),
    ];
    let plan = planned(&PlanningInput { library: library(), ..input(&tasks, &json!({"x": 1}), &nodes()) });
    assert_eq!(running(&plan), ["a@1", "a@2", "b@1", "b@2", "b@3"]);
    assert_eq!(small::edges(&plan), ["a@3 -> b@3"]);
    assert_eq!(plan.details(InstanceIdx::new(0)).expect("details").parameters["big"], false);
}

#[test]
fn node_filters_call_helpers_without_states() {
    let tasks = [shell("a", json!({}))];
    let with_record = |(at, mut node): (usize, NodeInput)| {
        node.record = Some(parse(&json!({"id": at, "size": at * 8}).to_string()).expect("JSON"));
        node
    };
    let nodes: Vec<NodeInput> = nodes().into_iter().enumerate().map(with_record).collect();
    let filtered = |filter: &'static str| PlanningInput {
        library: library(),
        node_filter: Some(filter),
        ..input(&tasks, &json!({}), &nodes)
    };
    assert_eq!(running(&planned(&filtered("$.size.big()"))), ["a@3"]);
    let report = refused(&filtered("moved(x)"));
    assert_eq!(report.problems[0].code, codes::NODE_FILTER);
}

#[test]
fn errors_in_helpers_are_reported_for_the_task() {
    let tasks = [condition("onRack(1) and $.absent")];
    let report = refused(&PlanningInput { library: library(), ..input(&tasks, &json!({}), &nodes()) });
    assert_eq!(report.problems[0].location.nodes, ["1", "2"]);
    let unknown = [condition("onRak(1)")];
    let report = refused(&PlanningInput { library: library(), ..input(&unknown, &json!({}), &nodes()) });
    assert!(report.problems[0].to_string().contains("did you mean `onRack`"), "{}", report.problems[0]);
}

#[test]
fn explanations_name_helpers() {
    let tasks = [condition("onRack(1)")];
    let input = PlanningInput { library: library(), ..input(&tasks, &json!({}), &nodes()) };
    let plan = planned(&input);
    let reasons = Reasons::new(&input, &plan);
    let explanation = |idx| reasons.of(idx).expect("a reason").to_string();
    assert_eq!(
        (explanation(InstanceIdx::new(0)), explanation(InstanceIdx::new(2))),
        ("`onRack(1)` is true".to_owned(), "`onRack(1)` is false".to_owned())
    );
}
