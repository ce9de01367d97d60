//! Conditions of groups: members follow them.

use crate::small;

use serde_json::{Value as Json, json};
use small::{input, node, planned, refused, running, state, task};
use stoker_model::{TaintCause, Task};
use stoker_planner::{NodeInput, PlanningInput, Verdict};
use stoker_state::AppliedStates;

fn nodes() -> Vec<NodeInput> {
    let own = |uid: &str, on: bool| json!({"uid": uid, "on": on, "title": "t"});
    vec![
        node("1", &["web"], own("1", true)),
        node("2", &["web"], own("2", false)),
        node("3", &["db"], own("3", false)),
    ]
}

fn group(name: &str, roles: &[&str], members: &[&str], condition: Option<&str>) -> Task {
    let mut fields = json!({"type": "group", "roles": roles, "tasks": members});
    if let Some(condition) = condition {
        fields["condition"] = json!({"yaql_exp": condition});
    }
    task(name, fields)
}

fn member(name: &str, fields: Json) -> Task {
    let mut task = task(name, json!({"type": "shell", "parameters": {"cmd": "x"}}));
    if let Json::Object(fields) = fields {
        task.fields.extend(fields);
    }
    task
}

fn runs(tasks: &[Task]) -> Vec<String> {
    running(&planned(&input(tasks, &json!({}), &nodes())))
}

#[test]
fn members_run_where_the_condition_of_their_group_is_true() {
    let tasks = [group("g", &["web"], &["a"], Some("$.on")), member("a", json!({}))];
    assert_eq!(runs(&tasks), ["a@1"]);
    let plan = planned(&input(&tasks, &json!({}), &nodes()));
    let skipped = plan.instances().find(|instance| instance.node == "2").expect("a skipped instance");
    assert_eq!(skipped.verdict, Verdict::GroupConditionFails);
    assert_eq!(skipped.verdict.to_string(), "the condition of its group is false");
    let never = [group("g", &["web"], &["a"], Some("false")), member("a", json!({}))];
    assert_eq!(runs(&never), [""; 0]);
}

#[test]
fn own_placement_and_other_groups_are_independent() {
    let never = |members: &[&str]| group("never", &["web", "db"], members, Some("false"));
    let tasks = [
        never(&["placed", "shared", "alternative"]),
        group("always", &["db"], &["shared"], None),
        group("some", &["web"], &["alternative"], Some("$.on")),
        member("placed", json!({"roles": ["web"]})),
        member("shared", json!({})),
        member("alternative", json!({})),
    ];
    assert_eq!(runs(&tasks), ["alternative@1", "placed@1", "placed@2", "shared@3"]);
}

#[test]
fn condition_of_the_member_applies_too() {
    let own = json!({"condition": {"yaql_exp": "$.uid != '1'"}});
    let tasks = [group("g", &["web"], &["a"], Some("$.on")), member("a", own)];
    assert_eq!(runs(&tasks), [""; 0]);
}

#[test]
fn changes_are_those_since_the_success_of_the_member() {
    let tasks = [group("g", &["web"], &["a"], Some("changed($.title)")), member("a", json!({}))];
    let mut applied = AppliedStates::default();
    for uid in ["1", "2"] {
        let title = if uid == "1" { "t" } else { "old" };
        applied.set_node(
            uid,
            state(&json!({}), &json!({"uid": uid, "on": uid == "1", "title": title})),
            None,
        );
    }
    let nodes = nodes();
    let with = |old: &AppliedStates| {
        running(&planned(&PlanningInput { old: Some(old), ..input(&tasks, &json!({}), &nodes) }))
    };
    assert_eq!(with(&applied), ["a@2"]);
    applied.set_taint("a", "1", TaintCause::Failed, 12);
    assert_eq!(with(&applied), ["a@1", "a@2"], "a failed attempt counts as changed");
}

#[test]
fn broken_condition_is_reported_once_in_the_group() {
    let tasks = [
        group("g", &["web"], &["a", "b"], Some("$.missing.x")),
        member("a", json!({})),
        member("b", json!({})),
    ];
    let report = refused(&input(&tasks, &json!({}), &nodes()));
    let places: Vec<_> = report.errors().map(|problem| problem.location.task.clone()).collect();
    assert_eq!(places, [Some("g".to_owned())], "{report:?}");
}

/// The condition of a group selects nodes: where it is false, the members take no part in the run.
#[test]
fn a_trigger_does_not_override_the_condition_of_a_group() {
    let tasks = [
        member("config", json!({"roles": ["web"], "condition": true})),
        group("g", &["web"], &["reload"], Some("$.on")),
        member("reload", json!({"refresh_on": ["config"]})),
    ];
    let plan = planned(&input(&tasks, &json!({}), &nodes()));
    let verdicts: Vec<(&str, Verdict)> = plan
        .instances()
        .filter(|instance| instance.task == "reload")
        .map(|instance| (instance.node, instance.verdict))
        .collect();
    assert_eq!(verdicts, [("1", Verdict::IfTriggered), ("2", Verdict::GroupConditionFails)]);
}
