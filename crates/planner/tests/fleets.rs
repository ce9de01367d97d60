//! Large fleets: limits that scale with the number of nodes, and explanations that are shared between nodes.

use crate::real;
use crate::small;

use serde_json::{Value as Json, json};
use small::{input, node, old_of, planned, refused, running, shell, state, task};
use stoker_planner::{EvaluationSettings, Explainer, NodeInput, Plan, PlanningInput, Reasons, codes};

fn fleet(n_nodes: usize) -> Vec<NodeInput> {
    (0..n_nodes).map(|uid| node(&uid.to_string(), &["a"], json!({"uid": uid.to_string()}))).collect()
}

/// Four entries per node.
fn common(n_nodes: usize) -> Json {
    json!({"disks": (0..n_nodes * 4).map(|disk| json!({"uid": (disk / 4).to_string(), "size": disk})).collect::<Vec<_>>()})
}

/// Python YAQL stops at 10,000 items, which any list of disks exceeds in a cluster of 3,000 nodes.
#[test]
fn collection_limit_scales_with_fleet() {
    let nodes = fleet(3_000);
    let condition = json!({"condition": {"yaql_exp": "len($.disks.select($.size)) = 12000"}});
    let tasks = [task("a", json!({"type": "shell", "roles": "master", "condition": condition["condition"]}))];
    let input = input(&tasks, &common(3_000), &nodes);
    assert_eq!(running(&planned(&input)), ["a@master"]);
    let limited = PlanningInput {
        settings: EvaluationSettings { limit_iterators: Some(10_000), ..EvaluationSettings::default() },
        ..input.clone()
    };
    let report = refused(&limited);
    assert_eq!(report.problems[0].code, codes::EXPRESSION);
    let starved = PlanningInput {
        settings: EvaluationSettings { memory_quota: Some(1_000), ..EvaluationSettings::default() },
        ..input
    };
    assert_eq!(refused(&starved).problems[0].code, codes::EXPRESSION);
}

/// Evaluates a condition over a list as long as the fleet on each of its nodes.
#[test]
fn nodes_can_find_themselves_in_a_fleet_list() {
    let nodes = fleet(60);
    let tasks = [
        shell("own", json!({"condition": {"yaql_exp": "$.disks.where($.uid = new($.uid)).len() = 4"}})),
        shell("moved", json!({"condition": {"yaql_exp": "changed($.disks.where($.uid = new($.uid)))"}})),
    ];
    let now = common(60);
    let mut before = now.clone();
    before["disks"][4]["size"] = json!("another");
    let states: Vec<(String, _)> =
        nodes.iter().map(|node| (node.uid.clone(), state(&before, &json!({"uid": node.uid})))).collect();
    let states: Vec<(&str, _)> = states.iter().map(|(uid, state)| (uid.as_str(), state.clone())).collect();
    let old = old_of(&states);
    let plan = planned(&PlanningInput { old: Some(&old), ..input(&tasks, &now, &nodes) });
    let running = running(&plan);
    assert_eq!((running.len(), running[0].as_str()), (61, "moved@1"));
}

fn explain_each(input: &PlanningInput<'_>, plan: &Plan) -> Vec<String> {
    let options = Explainer::options(input);
    let explainer = Explainer::new(input, plan, &options);
    plan.instances().map(|instance| explainer.explain(&instance).to_string()).collect()
}

fn explain_all(input: &PlanningInput<'_>, plan: &Plan) -> Vec<String> {
    let reasons = Reasons::new(input, plan);
    plan.instances().map(|instance| reasons.of(instance.idx).expect("a reason").to_string()).collect()
}

#[test]
fn shared_explanations_equal_single_explanations() {
    let (Some(cluster), Some(expected)) = (real::Cluster::real(), real::expected_plans()) else { return };
    let mut before = real::Cluster::real().expect("the same again");
    for (uid, own) in before.nodes.iter_mut().filter(|(uid, _)| matches!(uid.as_str(), "127" | "129")) {
        let mut changed = own.value().as_map().expect("a map").to_builder();
        changed.insert("network_scheme".into(), uid.as_str().into()).expect("a key");
        *own = stoker_state::Document::new(&stoker_yaql::Value::frozen_dict(changed.build()));
    }
    let pasts =
        [None, Some(cluster.as_old()), Some(cluster.before_scale_out().as_old()), Some(before.as_old())];
    for name in ["default-graph.yaml", "net-verification__tasks.yaml"] {
        let Some(tasks) = real::tasks(name) else { return };
        for old in &pasts {
            let input = PlanningInput {
                old: old.as_ref(),
                ..PlanningInput::new(&tasks, cluster.common.clone(), real::node_inputs(&cluster, &expected))
            };
            let plan = planned(&input);
            assert_eq!(explain_all(&input, &plan), explain_each(&input, &plan));
        }
    }
}

#[test]
fn junction_edges_expand_to_all_pairs() {
    let tasks = [shell("a", json!({})), shell("b", json!({"cross_depends": [{"name": "a", "role": "*"}]}))];
    let plan = planned(&input(&tasks, &json!({}), &fleet(20)));
    assert_eq!((plan.order_size().1, plan.edges().count()), (40, 400));
    let n_instances = plan.n_instances() as u32;
    assert!(plan.edges().all(|(before, after)| before.get() < n_instances && after.get() < n_instances));
}

/// `1`, `1.0` and `true` are equal in expressions. Nodes that differ only in such values must not share
/// results.
#[test]
fn nodes_with_equal_but_distinct_values_do_not_share_results() {
    let values = [json!(1), json!(true), json!(1.0), json!([1]), json!([true])];
    let own = |value: &Json| json!({"x": value});
    let nodes: Vec<NodeInput> =
        (0..).zip(&values).map(|(uid, value): (u32, _)| node(&uid.to_string(), &[], own(value))).collect();
    let tasks = [shell("a", json!({"parameters": {"cmd": "true", "x": {"yaql_exp": "$.x"}}}))];
    let plan = planned(&input(&tasks, &json!({}), &nodes));
    let parameters: Vec<Json> =
        plan.instances().map(|it| plan.details(it.idx).expect("it runs").parameters["x"].clone()).collect();
    assert_eq!(parameters, values);
}

/// Common documents, new and old, are distinguished too.
#[test]
fn old_states_with_equal_but_distinct_values_do_not_share_results() {
    let nodes = fleet(4);
    let tasks = [
        shell("differs", json!({"condition": {"yaql_exp": "changed($.x)"}})),
        shell("document", json!({"condition": {"yaql_exp": "changed($)"}})),
        shell("own", json!({"condition": {"yaql_exp": "changed(str($.y))"}})),
        shell("text", json!({"condition": {"yaql_exp": "changed(str($.x))"}})),
        shell("was", json!({"condition": {"yaql_exp": "old(str($.x)) = 'true'"}})),
    ];
    let own = |uid: &str, y: Json| json!({"uid": uid, "y": y});
    let nodes: Vec<NodeInput> = nodes.iter().map(|it| node(&it.uid, &[], own(&it.uid, json!(0)))).collect();
    let old = old_of(&[
        ("0", state(&json!({"x": 1}), &own("0", json!(0)))),
        ("1", state(&json!({"x": true}), &own("1", json!(0)))),
        ("2", state(&json!({"x": 1}), &own("2", json!(false)))),
        ("3", state(&json!({"x": 2}), &own("3", json!(0)))),
    ]);
    let plan = planned(&PlanningInput { old: Some(&old), ..input(&tasks, &json!({"x": 1}), &nodes) });
    assert_eq!(running(&plan), ["differs@3", "document@3", "own@2", "text@1", "text@3", "was@1"]);
}
