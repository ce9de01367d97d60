//! Defects found before a run starts, and how task parameters are read from a plan.

use serde_json::json;
use stoker_engine::blueprint::{ExecutionOptions, Group, Policy, WHOLE_RUN};
use stoker_engine::session::Mode;
use stoker_model::{InstanceIdx, Json, NodeIdx, Task, TaskIdx};
use stoker_orchestrator::runs::blueprint_of_plan;
use stoker_planner::{NodeInput, Plan, PlanningInput, plan};
use stoker_state::Document;
use stoker_tasks::default_timing;

fn planned(tasks: &Json) -> Plan {
    let tasks: Vec<Task> = tasks
        .as_array()
        .expect("a list")
        .iter()
        .map(|task| {
            let mut fields = task.as_object().expect("a map").clone();
            let name = fields.remove("id").expect("an id");
            Task { name: name.as_str().expect("text").to_owned(), fields }
        })
        .collect();
    let node = |uid: &str| NodeInput {
        uid: uid.to_owned(),
        tags: vec!["compute".to_owned()],
        ..NodeInput::default()
    };
    let input = PlanningInput::new(&tasks, Document::default(), vec![node("1"), node("2")]);
    plan(&input).expect("a plan").0
}

/// Returns a plan that the planner would have rejected, with one task on two nodes.
fn forged(task_type: &str, parameters: &Json) -> Plan {
    let mut plan = planned(&json!([{"id": "a", "type": "shell", "roles": ["compute"]}]));
    for details in plan.tasks.iter_mut().flat_map(|task| &mut task.details) {
        task_type.clone_into(&mut details.task_type);
        details.parameters = parameters.clone();
    }
    plan
}

fn policy(parameters: &Json) -> Result<Policy, String> {
    let plan = forged("shell", parameters);
    let blueprint = blueprint_of_plan(&plan, ExecutionOptions::default(), &[], default_timing)
        .map_err(|defects| defects.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    Ok(*blueprint.policy_of(InstanceIdx::new(0)).expect("not skipped"))
}

#[test]
fn task_parameters_override_type_defaults() {
    let usual = Policy {
        timeout_ms: 300_000,
        n_retries: 2,
        interval_ms: 2000,
        fail_on_error: true,
        retry_interrupted: false,
    };
    assert_eq!(policy(&json!({"cmd": "x"})), Ok(usual));
    let own = json!({"timeout": "1.5", "retries": 0, "interval": 7, "retry_interrupted": true});
    let expected =
        Policy { timeout_ms: 1500, n_retries: 0, interval_ms: 7000, retry_interrupted: true, ..usual };
    assert_eq!(policy(&own), Ok(expected));
    assert_eq!(policy(&json!({"timeout": null})), Ok(usual));
}

#[test]
fn all_invalid_parameters_are_reported() {
    let wrong = json!({"timeout": -1, "retries": 1.5, "interval": [], "retry_interrupted": "often",
                       "strategy": {"type": "parallel", "amount": -2}});
    let message = policy(&wrong).expect_err("defects");
    // Five defects for each of the two nodes.
    assert_eq!(message.lines().count(), 10, "{message}");
    for expected in [
        "`parameters.timeout` of `a@1` is -1; it must be a number of seconds, at most a year",
        "`parameters.retries` of `a@2` is 1.5; it must be an integer, at most 1000",
        "`parameters.retry_interrupted` of `a@1` is \"often\"; it must be true or false",
        "`parameters.strategy` of `a@1` is {\"type\":\"parallel\",\"amount\":-2}; use `type: one_by_one`",
    ] {
        assert!(message.contains(expected), "{expected}\n{message}");
    }
}

#[test]
fn unknown_task_type_is_reported_once() {
    let plan = forged("teleport", &json!({}));
    let defects =
        blueprint_of_plan(&plan, ExecutionOptions::default(), &[], default_timing).expect_err("defects");
    let messages: Vec<String> = defects.iter().map(ToString::to_string).collect();
    assert_eq!(messages, ["task `a` has the unknown type `teleport`"]);
}

#[test]
fn strategy_sets_task_limit() {
    let strategy = |strategy: Json| {
        let plan = forged("shell", &json!({"strategy": strategy}));
        blueprint_of_plan(&plan, ExecutionOptions::default(), &[], default_timing)
            .map(|blueprint| blueprint.limit_of(TaskIdx::new(0)))
            .map_err(|it| it.len())
    };
    assert_eq!(strategy(json!({"type": "one_by_one"})), Ok(Some(1)));
    assert_eq!(strategy(json!({"type": "one-by-one"})), Ok(Some(1)));
    assert_eq!(strategy(json!({"type": "parallel"})), Ok(None));
    assert_eq!(strategy(json!({"type": "parallel", "amount": 0})), Ok(None));
    assert_eq!(strategy(json!({"type": "parallel", "amount": 6})), Ok(Some(6)));
    assert_eq!(strategy(json!({"type": "sideways"})), Err(2));
    assert_eq!(strategy(json!(3)), Err(2));
}

#[test]
fn dry_run_failures_do_not_fail_nodes() {
    let plan = planned(&json!([{"id": "a", "type": "shell", "roles": ["compute"], "fail_on_error": true}]));
    let options = ExecutionOptions { mode: Mode::Noop, ..ExecutionOptions::default() };
    let blueprint = blueprint_of_plan(&plan, options, &[], default_timing).expect("valid");
    assert!(!blueprint.policy_of(InstanceIdx::new(0)).expect("not skipped").fail_on_error);
}

/// The tolerance of the whole run applies in addition to the tolerances of groups, and replaces the group of
/// zero tolerance.
#[test]
fn fault_tolerance_option_sets_whole_run_group() {
    let tasks = json!([
        {"id": "g", "type": "group", "roles": ["compute"], "fault_tolerance": 0},
        {"id": "a", "type": "shell", "roles": ["compute"]},
        {"id": "end", "type": "stage"},
    ]);
    let groups = |tasks: &Json, tolerance: &str| {
        let options =
            ExecutionOptions { fault_tolerance: Some(tolerance.to_owned()), ..ExecutionOptions::default() };
        let blueprint = blueprint_of_plan(&planned(tasks), options, &[], default_timing);
        blueprint.map(|blueprint| blueprint.groups().to_vec()).map_err(|defects| defects[0].to_string())
    };
    let of = |name: &str, tolerated| Group {
        name: name.to_owned(),
        nodes: NodeIdx::first(2).collect(),
        tolerated,
    };
    let result = groups(&tasks, "1").expect("valid");
    assert_eq!(result[..2], [of("g", 0), of(WHOLE_RUN, 1)]);
    let alone = json!([tasks[1]]);
    for (tolerance, tolerated) in [("1", 1), ("50%", 1), ("10%", 0), ("-1", 1), ("100%", 2)] {
        // The master has no work and stays in the zero-tolerance group.
        let result = groups(&alone, tolerance).expect("valid");
        assert_eq!(result[0], of(WHOLE_RUN, tolerated), "{tolerance}");
    }
    let message = groups(&alone, "few").expect_err("a defect");
    assert!(message.contains("`few`"), "{message}");
}

#[test]
fn task_overrides_retry_interrupted() {
    let retried = |parameters: Json, chosen: Option<bool>| {
        let plan =
            planned(&json!([{"id": "a", "type": "puppet", "roles": ["compute"], "parameters": parameters}]));
        let options = ExecutionOptions { retry_interrupted: chosen, ..ExecutionOptions::default() };
        blueprint_of_plan(&plan, options, &[], default_timing)
            .expect("valid")
            .policy_of(InstanceIdx::new(0))
            .expect("not skipped")
            .retry_interrupted
    };
    assert!(retried(json!({}), None));
    assert!(!retried(json!({}), Some(false)));
    assert!(retried(json!({"retry_interrupted": true}), Some(false)));
    assert!(!retried(json!({"retry_interrupted": false}), None));
}

#[test]
fn master_tasks_run_on_the_master_agent() {
    let plan = planned(&json!([{"id": "a", "type": "master_shell", "roles": ["compute"]}]));
    let blueprint =
        blueprint_of_plan(&plan, ExecutionOptions::default(), &[], default_timing).expect("valid");
    let executor = blueprint.executor_of(InstanceIdx::new(0)).and_then(|node| blueprint.node(node));
    assert_eq!((blueprint.name(InstanceIdx::new(0)).as_str(), executor), ("a@1", Some("master")));
}

#[test]
fn master_tasks_need_a_master() {
    let mut plan = planned(&json!([{"id": "a", "type": "master_shell", "roles": ["compute"]}]));
    plan.nodes = ["1", "2", "another", "sync"].map(str::to_owned).into();
    let defects =
        blueprint_of_plan(&plan, ExecutionOptions::default(), &[], default_timing).expect_err("defects");
    let messages: Vec<String> = defects.iter().map(ToString::to_string).collect();
    let expected = ["1", "2"].map(|node| format!("`a@{node}` runs on the master, which is not in the plan"));
    assert_eq!(messages, expected);
}

#[test]
fn tasks_without_executor_are_skipped() {
    let plan = planned(&json!([{"id": "a", "type": "noop", "roles": ["compute"]}]));
    let blueprint =
        blueprint_of_plan(&plan, ExecutionOptions::default(), &[], default_timing).expect("valid");
    assert_eq!((blueprint.n_instances(), blueprint.executor_of(InstanceIdx::new(0))), (2, None));
}
