//! Handlers: tasks with `refresh_on`.

use crate::small;

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use small::{edges, input, node, planned, running, shell, state, task};
use stoker_model::{TaintCause, Task};
use stoker_planner::{ExplainedPlan, PlanningReport};
use stoker_planner::{
    NodeInput, Plan, PlanScope, PlanningInput, Reasons, Verdict, check, decode, encode, plan,
};
use stoker_state::AppliedStates;

fn config(more: &Json) -> Task {
    let mut fields = json!({"condition": {"yaql_exp": "changed($.title)"}});
    for (key, value) in more.as_object().expect("fields") {
        fields[key] = value.clone();
    }
    shell("config", fields)
}

fn nodes() -> Vec<NodeInput> {
    vec![node("1", &["web"], json!({})), node("2", &["web", "lb"], json!({}))]
}

fn applied(tasks: &[Task], title: &str) -> AppliedStates {
    let mut applied = AppliedStates::default();
    for uid in ["1", "2"] {
        applied.set_node(uid, state(&json!({"title": title}), &json!({})), None);
    }
    assert!(!tasks.is_empty());
    applied
}

fn verdicts(plan: &Plan) -> BTreeMap<String, Verdict> {
    plan.instances().map(|instance| (instance.to_string(), instance.verdict)).collect()
}

fn of(plan: &Plan, task: &str) -> Vec<Verdict> {
    let verdicts = verdicts(plan).into_iter().filter(|(name, _)| name.starts_with(&format!("{task}@")));
    verdicts.map(|(_, verdict)| verdict).collect()
}

#[test]
fn a_handler_waits_for_its_trigger_on_its_node() {
    let tasks = [config(&json!({})), shell("reload", json!({"refresh_on": ["config", "keystone_config"]}))];
    let input = input(&tasks, &json!({"title": "a"}), &nodes());
    let plan = planned(&input);
    assert_eq!(of(&plan, "reload"), [Verdict::IfTriggered; 2]);
    assert_eq!(edges(&plan), ["config@1 -> reload@1", "config@2 -> reload@2"]);
    assert!(check(&plan).is_empty());
    let reasons = Reasons::new(&input, &plan);
    let reason = |name: &str| {
        let instance = plan.instances().find(|instance| instance.to_string() == name).expect("an instance");
        reasons.of(instance.idx).expect("a reason").to_string()
    };
    assert_eq!(reason("reload@1"), "it runs if `config` changes something");
}

#[test]
fn a_handler_rests_if_its_triggers_select_no_node() {
    let tasks = [
        shell("config", json!({"roles": ["storage"]})),
        shell("reload", json!({"version": "3.0.0", "refresh_on": ["config"]})),
    ];
    let common = json!({});
    let plan = planned(&input(&tasks, &common, &nodes()));
    assert_eq!(of(&plan, "reload"), [Verdict::NotTriggered; 2]);
    assert!(check(&plan).is_empty());
}

#[test]
fn a_handler_rests_while_its_triggers_rest() {
    let tasks = [config(&json!({})), shell("reload", json!({"refresh_on": ["config"]}))];
    let mut old = applied(&tasks, "a");
    let common = json!({"title": "a"});
    let plan_with = |old: &AppliedStates, request: PlanScope| {
        planned(&PlanningInput { old: Some(old), request, ..input(&tasks, &common, &nodes()) })
    };
    assert_eq!(of(&plan_with(&old, PlanScope::default()), "reload"), [Verdict::NotTriggered; 2]);

    // A pending trigger is not forgotten, whatever the scope of the plan says about states.
    old.set_taint("reload", "2", TaintCause::Triggered, 7);
    let pending = [Verdict::NotTriggered, Verdict::TriggerPending];
    assert_eq!(of(&plan_with(&old, PlanScope::default()), "reload"), pending);
    let forced = PlanScope { force: true, ..PlanScope::default() };
    assert_eq!(of(&plan_with(&old, forced), "reload"), [Verdict::IfTriggered, Verdict::TriggerPending]);
    let elsewhere = PlanScope { tasks: Some(vec!["config".to_owned()]), ..PlanScope::default() };
    assert_eq!(of(&plan_with(&old, elsewhere), "reload"), [Verdict::TaskNotSelected; 2]);
}

/// The last attempt of the trigger may have changed the host before it failed, so that nothing is left to change now.
#[test]
fn a_trigger_with_an_unknown_effect_lets_its_handler_run() {
    let tasks = [config(&json!({})), shell("reload", json!({"refresh_on": ["config"]}))];
    let mut old = applied(&tasks, "a");
    old.set_taint("config", "1", TaintCause::InFlight, 7);
    let plan = planned(&PlanningInput { old: Some(&old), ..input(&tasks, &json!({"title": "a"}), &nodes()) });
    assert_eq!(running(&plan), ["config@1", "reload@1"]);
    assert_eq!(of(&plan, "reload"), [Verdict::TriggerPending, Verdict::NotTriggered]);
}

#[test]
fn a_handler_runs_for_its_own_condition_as_well() {
    let own = |condition: Json| {
        [config(&json!({})), shell("reload", json!({"refresh_on": ["config"], "condition": condition}))]
    };
    for (condition, verdict) in [
        (json!(true), Verdict::ConditionHolds),
        (json!(false), Verdict::IfTriggered),
        (json!({"yaql_exp": "changed($.title)"}), Verdict::ConditionHolds),
        (json!({"yaql_exp": "changed($.other)"}), Verdict::IfTriggered),
    ] {
        let tasks = own(condition.clone());
        let plan = planned(&input(&tasks, &json!({"title": "a"}), &nodes()));
        assert_eq!(of(&plan, "reload"), [verdict; 2], "{condition}");
    }
    let tasks = own(json!(false));
    let old = applied(&tasks, "a");
    let plan = planned(&PlanningInput { old: Some(&old), ..input(&tasks, &json!({"title": "a"}), &nodes()) });
    assert_eq!(of(&plan, "reload"), [Verdict::ConditionFails; 2]);
}

#[test]
fn triggers_reach_other_nodes_and_chains() {
    let tasks = [
        config(&json!({"roles": ["web"]})),
        shell("balance", json!({"roles": ["lb"], "refresh_on": [{"name": "config", "role": "web"}]})),
        shell("notify", json!({"roles": ["lb"], "refresh_on": ["balance"]})),
    ];
    let plan = planned(&input(&tasks, &json!({"title": "a"}), &nodes()));
    assert_eq!(edges(&plan), ["balance@2 -> notify@2", "config@1 -> balance@2", "config@2 -> balance@2"]);
    assert_eq!(of(&plan, "notify"), [Verdict::IfTriggered]);

    let request = PlanScope { nodes: Some(vec!["1".to_owned()]), ..PlanScope::default() };
    let part = PlanningInput { request, ..input(&tasks, &json!({"title": "a"}), &nodes()) };
    let (_, report) = stoker_planner::plan(&part).expect("a plan");
    let warned =
        report.problems.iter().find(|problem| problem.code == "plan-untriggered").expect("a warning");
    assert_eq!(warned.location.task.as_deref(), Some("balance"));
    assert_eq!(warned.location.nodes, ["2"]);
    let stored =
        ExplainedPlan::new(&input(&tasks, &json!({"title": "a"}), &nodes()), plan, PlanningReport::default());
    assert_eq!(decode(&encode(&stored)).expect("a plan"), stored);
}

#[test]
fn computed_triggers_and_typing_errors() {
    let tasks = [
        config(&json!({})),
        shell("reload", json!({"refresh_on": {"yaql_exp": "switch($.uid = '1' => [config], true => [])"}})),
        task(
            "typo",
            json!({"type": "shell", "roles": "*", "parameters": {"cmd": "true"}, "refresh_on": ["confgi", "nova_api_config", 7]}),
        ),
    ];
    let nodes = vec![node("1", &[], json!({"uid": "1"})), node("2", &[], json!({"uid": "2"}))];
    let report = plan(&input(&tasks, &json!({"title": "a"}), &nodes)).expect_err("an entry is a number");
    let mut problems: Vec<String> = report.problems.iter().map(|problem| problem.message.clone()).collect();
    problems.sort();
    assert_eq!(
        problems,
        ["7 is not a reference to a task", "task `confgi` does not exist, so it does not trigger this task"]
    );
    let plan = planned(&input(&tasks[..2], &json!({"title": "a"}), &nodes));
    assert_eq!(of(&plan, "reload"), [Verdict::IfTriggered, Verdict::NotTriggered]);
}
