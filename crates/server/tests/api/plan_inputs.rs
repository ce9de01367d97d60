//! Inputs of plans other than graphs and states: plugins, helpers, evaluation limits.

use std::collections::HashSet;

use serde_json::{Value, json};
use stoker_model::PlanId;
use stoker_planner::Plan;
use stoker_settings::{EvaluationLimits, Server};

use crate::beginnings::{create_release_from, release_body};
use crate::fixtures::{begin_write, set_stage_tasks};
use crate::owners::Owners;
use crate::plans::ready_nodes;
use crate::support::TestServer;

/// Returns a server with stage tasks of an enabled plugin and two controllers.
async fn server_with_stage_tasks(stages: &[&str]) -> (TestServer, Owners) {
    let server = TestServer::new().await;
    let owners = Owners::create(&server).await;
    ready_nodes(&server, &[&["controller"], &["controller"]]).await;
    let stage =
        |id: &str, before: Option<&str>| json!({"id": id, "type": "stage", "requires": before.as_slice()});
    let tasks = json!([
        stage("deploy_end", None),
        stage("post_deployment_start", Some("deploy_end")),
        stage("post_deployment_end", Some("post_deployment_start")),
    ]);
    server.post(&format!("{}/deployment_graphs/default", owners.release_path()), &tasks).await.expect(200);
    let stage_task =
        |stage: &&str| json!({"type": "shell", "role": "*", "stage": stage, "parameters": {"cmd": "x"}});
    let tasks: Vec<Value> = stages.iter().map(stage_task).collect();
    set_stage_tasks(&server, owners.plugin, tasks).await;
    owners.enable_plugin(&server).await;
    (server, owners)
}

async fn read_plan(server: &TestServer, plan_id: i64) -> Plan {
    let mut transaction = begin_write(server).await;
    let document = transaction.plan_document(PlanId(plan_id)).await.unwrap().unwrap();
    stoker_planner::decode(&document).unwrap().plan
}

/// Returns the instance and its direct and transitive dependents.
fn transitive_dependents(plan: &Plan, name: &str) -> HashSet<String> {
    let names: Vec<String> = plan.instances().map(|instance| instance.to_string()).collect();
    let edges: Vec<(u32, u32)> = plan.edges().map(|(from, to)| (from.get(), to.get())).collect();
    let mut dependents = HashSet::from([name.to_owned()]);
    loop {
        let n_before = dependents.len();
        for (before, after) in &edges {
            if dependents.contains(&names[*before as usize]) {
                dependents.insert(names[*after as usize].clone());
            }
        }
        if dependents.len() == n_before {
            return dependents;
        }
    }
}

#[tokio::test]
async fn plugin_stage_tasks_are_planned_in_stage_order() {
    let (server, _) = server_with_stage_tasks(&["post_deployment/100", "post_deployment/20"]).await;
    let created = server.post("clusters/1/plans", &json!({})).await.expect(201);
    assert_eq!(created["n_run"], 4, "two tasks on two nodes: {created}");
    let plan = read_plan(&server, 1).await;
    let after_stage = transitive_dependents(&plan, "post_deployment_start@sync");
    for name in ["add-on-post_deployment-20-1@1", "add-on-post_deployment-100-1@2"] {
        assert!(after_stage.contains(name), "{name} is not in {after_stage:?}");
    }
    let after_first = transitive_dependents(&plan, "add-on-post_deployment-20-1@1");
    assert!(after_first.contains("add-on-post_deployment-100-1@2"), "{after_first:?}");
    let instances = server.get("plans/1/instances?task=add-on-post_deployment-100-1").await.expect(200);
    assert_eq!((&instances[0]["action"], &instances[0]["type"]), (&json!("run"), &json!("shell")));
}

#[tokio::test]
async fn invalid_stage_is_reported_with_all_other_plan_errors() {
    let (server, owners) = server_with_stage_tasks(&["deploy/1", "post_deployment/x"]).await;
    let codes = |reply: &Value| -> Vec<String> {
        let errors = reply["errors"].as_array().expect("errors").iter();
        errors.map(|error| error["code"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let reply = server.post("clusters/1/plans", &json!({})).await.expect(400);
    assert_eq!(codes(&reply), ["graph-plugin-stage", "graph-plugin-stage"], "{reply}");
    assert!(reply["errors"][1]["message"].as_str().unwrap().contains("no valid number"), "{reply}");
    let request = json!({"tasks": ["add-on-post_deployment-20-1"]});
    let reply = server.post("clusters/1/plans", &request).await.expect(400);
    assert!(codes(&reply).contains(&"graph-plugin-stage".to_owned()), "{reply}");
    let cluster_tasks = json!([{"id": "a", "type": "shell", "version": "2.0.0", "role": "*",
                      "condition": {"yaql_exp": "$.nowhere.at.all"}}]);
    server
        .post(&format!("{}/deployment_graphs/default", owners.cluster_path()), &cluster_tasks)
        .await
        .expect(200);
    let reply = server.post("clusters/1/plans", &json!({})).await.expect(400);
    assert_eq!(codes(&reply).len(), 3, "{reply}");
    assert_eq!(reply["errors"][2]["path"], "tasks.a.condition");
    assert_eq!(server.get("clusters/1/plans").await.expect(200), json!([]));
}

/// Returns a server with one node and one task that has this condition.
async fn server_with_condition(settings: Server, condition: &str) -> TestServer {
    let server = TestServer::with_settings(settings).await;
    create_release_from(&server, release_body()).await;
    server.post("clusters/", &json!({"name": "demo", "release_id": 1})).await.expect(201);
    ready_nodes(&server, &[&["controller"]]).await;
    let task = json!([{"id": "a", "type": "shell", "version": "2.0.0", "role": "*", "parameters": {"cmd": "x"},
                       "condition": {"yaql_exp": condition}}]);
    server.put("clusters/1/deployment_tasks", &task).await.expect(200);
    server
}

#[tokio::test]
async fn plans_use_configured_helpers() {
    let file =
        "functions:\n  - {name: isLarger, parameters: [size], body: changed($.debug) and $size > 10}\n";
    let helpers = [stoker_helpers::HelperFile { name: "own.yaml", text: file }];
    let library = stoker_helpers::load(&helpers, &stoker_planner::library()).library;
    let settings = Server { library, ..Server::default() };
    let server = server_with_condition(settings, "isLarger(11)").await;
    assert_eq!(server.post("clusters/1/plans", &json!({})).await.expect(201)["n_run"], 1);
    let server = server_with_condition(Server::default(), "isLarger(11)").await;
    let reply = server.post("clusters/1/plans", &json!({})).await.expect(400);
    assert_eq!(reply["errors"][0]["path"], "tasks.a.condition");
}

#[tokio::test]
async fn evaluation_limits_apply_to_plans() {
    let condition = "len(range(200).select($ + 1)) = 200";
    let server = server_with_condition(Server::default(), condition).await;
    server.post("clusters/1/plans", &json!({})).await.expect(201);
    let evaluation = EvaluationLimits { limit_iterators: Some(100), ..EvaluationLimits::default() };
    let server = server_with_condition(Server { evaluation, ..Server::default() }, condition).await;
    let reply = server.post("clusters/1/plans", &json!({})).await.expect(400);
    assert_eq!(reply["errors"][0]["path"], "tasks.a.condition");
    assert!(reply["message"].as_str().unwrap().contains("100"), "{reply}");
}

/// The inputs of a plan contain only the helpers that its graph calls.
#[tokio::test]
async fn plan_inputs_include_used_helpers() {
    let library = |larger: &str, other: &str| {
        let file = format!(
            "functions:\n  - {{name: isLarger, parameters: [size], body: $size > {larger}}}\n  \
             - {{name: unused, parameters: [x], body: $x + {other}}}\n"
        );
        let helpers = [stoker_helpers::HelperFile { name: "own.yaml", text: &file }];
        stoker_helpers::load(&helpers, &stoker_planner::library()).library
    };
    let digests = async |library| {
        let server = server_with_condition(Server { library, ..Server::default() }, "isLarger(11)").await;
        let plan = server.post("clusters/1/plans", &json!({})).await.expect(201)["id"].as_i64().unwrap();
        let mut transaction = begin_write(&server).await;
        let inputs = transaction.plan_inputs(stoker_model::PlanId(plan)).await.unwrap().unwrap();
        serde_json::from_value::<stoker_planner::InputDigests>(inputs).unwrap()
    };
    let before = digests(library("10", "1")).await;
    // Generated passwords differ between servers: compare helpers only.
    let helpers = |after: &stoker_planner::InputDigests| {
        let mut differences = before.differences(after);
        differences.retain(|difference| difference.starts_with("helper"));
        differences
    };
    assert_eq!(helpers(&digests(library("10", "2")).await), Vec::<String>::new());
    assert_eq!(helpers(&digests(library("9", "1")).await), ["helper `isLarger`"]);
}

/// Warnings and errors of a plan name the layer, the file and the line.
#[tokio::test]
async fn plan_diagnostics_have_layer_file_and_line() {
    let server = server_with_condition(Server::default(), "true").await;
    let send = async |path: &str, text: &str| {
        let request = server.request("PUT", path).header("content-type", "application/x-yaml");
        server.send(request.body(axum::body::Body::from(text.to_owned())).unwrap()).await.expect(200);
    };
    let text = "- id: a\n  type: shell\n  version: 2.0.0\n  role: '*'\n  requires: [no-such-task]\n  parameters: {cmd: x}\n";
    send("clusters/1/deployment_graphs/default?file=graphs/mine.yaml", text).await;
    let plan = server.post("clusters/1/plans", &json!({})).await.expect(201)["id"].clone();
    let plan_view = server.get(&format!("plans/{plan}")).await.expect(200);
    let warning = &plan_view["warnings"][0];
    assert_eq!(
        (&warning["layer"], &warning["file"], &warning["line"]),
        (&json!("cluster"), &json!("graphs/mine.yaml"), &json!(5)),
        "{plan_view}"
    );
    let text =
        "- id: a\n  type: shell\n  version: 2.0.0\n  role: '*'\n  condition: {yaql_exp: '$.nothing.here'}\n";
    send("clusters/1/deployment_graphs/default?file=graphs/mine.yaml", text).await;
    let response = server.post("clusters/1/plans", &json!({})).await.expect(400);
    let error = &response["errors"][0];
    assert_eq!(
        (&error["severity"], &error["layer"], &error["file"], &error["line"]),
        (&json!("error"), &json!("cluster"), &json!("graphs/mine.yaml"), &json!(5)),
        "{response}"
    );
    assert!(error["message"].as_str().unwrap().contains("there is no key 'nothing'"), "{response}");
}

/// Later changes of the layers do not change the graph of a plan.
#[tokio::test]
async fn plan_retains_its_graph() {
    let server = server_with_condition(Server::default(), "true").await;
    let plan = server.post("clusters/1/plans", &json!({})).await.expect(201)["id"].clone();
    let tasks = server.get("clusters/1/deployment_tasks").await.expect(200);
    assert_eq!(server.get(&format!("plans/{plan}/tasks")).await.expect(200), tasks);
    server.put("clusters/1/deployment_tasks", &json!([{"id": "b", "type": "stage"}])).await.expect(200);
    assert_eq!(server.get(&format!("plans/{plan}/tasks")).await.expect(200), tasks);
    server.get("plans/99/tasks").await.expect_error(404);
}
