//! Explained plans shared by the tests.

use serde_json::json;
use stoker_model::Task;
use stoker_planner::{ExplainedPlan, NodeInput, PlanningInput, plan};
use stoker_state::AppliedStates;

use crate::real::{self, Cluster};
use crate::small::{input, node, old_of, shell, state, task};

pub(crate) fn explained(input: &PlanningInput<'_>) -> ExplainedPlan {
    let (plan, report) = plan(input).unwrap_or_else(|report| panic!("{:#?}", report.problems));
    ExplainedPlan::new(input, plan, report)
}

/// Plans of the real graphs with several old states, if the real data is present.
pub(crate) fn real_plans() -> Vec<(String, ExplainedPlan)> {
    let mut plans = Vec::new();
    with_real_inputs(|name, input| plans.push((name.to_owned(), explained(input))));
    plans
}

pub(crate) fn with_real_inputs(mut callback: impl FnMut(&str, &PlanningInput<'_>)) {
    let (Some(now), Some(expected)) = (Cluster::real(), real::expected_plans()) else { return };
    let pasts: [(&str, Option<AppliedStates>); 3] = [
        ("first run", None),
        ("nothing new", Some(now.as_old())),
        ("scale out", Some(now.before_scale_out().as_old())),
    ];
    for file in ["default-graph.yaml", "net-verification__tasks.yaml"] {
        let tasks = real::tasks(file).expect("a graph");
        for (name, old) in &pasts {
            let nodes = real::node_inputs(&now, &expected);
            let input =
                PlanningInput { old: old.as_ref(), ..PlanningInput::new(&tasks, now.common.clone(), nodes) };
            callback(&format!("{file}, {name}"), &input);
        }
    }
}

/// Tasks of all kinds: computed, skipped, connected through junctions, with warnings and choices.
pub(crate) fn mixed_tasks() -> Vec<Task> {
    vec![
        task("begin", json!({"type": "stage"})),
        task("group", json!({"type": "group", "roles": ["compute"], "fault_tolerance": "50%"})),
        shell("address", json!({"condition": {"yaql_exp": "changed($.address)"}, "requires": ["begin"]})),
        shell("all", json!({"condition": {"yaql_exp": "changedAny($.debug, $.address)"}})),
        shell("legacy", json!({"condition": "settings:debug.value == true or true"})),
        shell("named", json!({"parameters": {"cmd": {"yaql_exp": "concat('echo ', $.uid)"}}})),
        shell(
            "after",
            json!({"cross_depends": [{"name": "named", "role": "*"}, {"name": "nowhere", "role": "*"}]}),
        ),
        shell("one", json!({"cross_depends": [{"name": "after", "role": "*", "policy": "any"}]})),
        shell("whole", json!({"condition": {"yaql_exp": "changed($)"}})),
        task("never", json!({"type": "skipped", "roles": "*"})),
    ]
}

/// Nodes with distinct addresses.
pub(crate) fn nodes(n_nodes: usize, net: u32) -> Vec<NodeInput> {
    let own = |number: usize| {
        let uid = (number + 1).to_string();
        let address = json!({"uid": uid, "address": {"ip": format!("10.{net}.0.{number}"), "password": "x"}});
        node(&uid, &["compute"], address)
    };
    (0..n_nodes).map(own).collect()
}

/// An input whose old state differs in a common setting, in addresses and in secrets.
pub(crate) fn with_mixed_input(n_nodes: usize, callback: impl FnOnce(&PlanningInput<'_>)) {
    let tasks = mixed_tasks();
    let settings = json!({"settings": {"debug": {"value": false}}, "debug": true});
    let before: Vec<(String, NodeInput)> =
        nodes(n_nodes, 1).into_iter().map(|node| (node.uid.clone(), node)).collect();
    let past = before.iter().skip(1).map(|(uid, node)| {
        let mut past = state(&json!({"debug": true}), &json!({}));
        past.node = node.document.clone();
        (uid.as_str(), past)
    });
    let old = old_of(&past.collect::<Vec<_>>());
    let input = PlanningInput { old: Some(&old), ..input(&tasks, &settings, &nodes(n_nodes, 2)) };
    callback(&input);
}

pub(crate) fn mixed(n_nodes: usize) -> ExplainedPlan {
    let mut plan_slot = None;
    with_mixed_input(n_nodes, |input| plan_slot = Some(explained(input)));
    plan_slot.expect("a plan")
}
