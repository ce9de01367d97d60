//! Plans over REST: create, read, compare, delete.

use serde_json::{Value, json};
use stoker_api_types::plans::SerializedView;
use stoker_model::{AppliedMark, AppliedSuccess, ClusterId, NodeId, NodeStatus, PlanId, RunId, TaintCause};

use crate::beginnings::{create_node, create_release_from, map, release_body};
use crate::fixtures::{begin_write, commit};
use crate::support::TestServer;

/// Creates deployed nodes with these roles in cluster 1.
pub(crate) async fn ready_nodes(server: &TestServer, roles: &[&[&str]]) {
    for (id, roles) in (1..).zip(roles) {
        create_node(server, u8::try_from(id).unwrap()).await;
        let mut transaction = begin_write(server).await;
        let mut node = transaction.node_get(NodeId(id)).await.unwrap().unwrap();
        node.cluster_id = Some(ClusterId(1));
        node.status = NodeStatus::Ready;
        node.online = true;
        node.roles = roles.iter().map(|role| (*role).to_owned()).collect();
        transaction.node_update(&node).await.unwrap();
        commit(transaction).await;
    }
}

/// Records a success of each instance that a plan would run.
pub(crate) async fn record_successes(server: &TestServer, plan_id: i64) {
    let mut transaction = begin_write(server).await;
    let plan = transaction.plan_get(PlanId(plan_id)).await.unwrap().unwrap();
    let document = transaction.plan_document(plan.id).await.unwrap().unwrap();
    let explained = stoker_planner::decode(&document).unwrap();
    let nodes: std::collections::HashMap<String, _> =
        transaction.plan_nodes(plan.id).await.unwrap().into_iter().collect();
    let run_instances = explained
        .plan
        .instances()
        .filter(|instance| instance.verdict.action() == stoker_planner::InstanceAction::Run);
    let successes: Vec<AppliedSuccess> = run_instances
        .map(|instance| AppliedSuccess {
            task_name: instance.task.to_owned(),
            node_uid: instance.node.to_owned(),
            document_id: nodes[instance.node],
            inputs: None,
            inputs_id: None,
        })
        .collect();
    let marks: Vec<AppliedMark> = successes
        .iter()
        .map(|success| AppliedMark {
            task_name: success.task_name.clone(),
            node_uid: success.node_uid.clone(),
            cause: TaintCause::InFlight,
        })
        .collect();
    let snapshot = transaction.plan_snapshot(plan.id).await.unwrap().unwrap().id;
    let (cluster, graph_type) = (plan.cluster_id, &plan.graph_type);
    transaction.applied_mark(cluster, graph_type, RunId(1), &marks).await.unwrap();
    transaction.applied_put(cluster, graph_type, RunId(1), snapshot, &successes).await.unwrap();
    commit(transaction).await;
}

fn tasks() -> Value {
    json!([
        {"id": "deploy_start", "type": "stage"},
        {"id": "deploy_end", "type": "stage", "requires": ["deploy_start"]},
        {"id": "reads-debug", "type": "shell", "version": "2.0.0", "role": "*", "requires": ["deploy_start"],
         "required_for": ["deploy_end"], "condition": {"yaql_exp": "changed($.debug)"}, "parameters": {"cmd": "true"}},
        {"id": "reads-password", "type": "shell", "version": "2.0.0", "role": ["controller"], "requires": ["reads-debug"],
         "condition": {"yaql_exp": "changedAny($.access.entry, $.settings.access)"},
         "parameters": {"cmd": {"yaql_exp": "concat('login ', $.access.entry)"}, "password": "hunter2hunter2"}},
        {"id": "always", "type": "shell", "version": "2.0.0", "role": ["compute"], "requires": ["reads-debug"],
         "parameters": {"cmd": "on {CLUSTER_ID}"}},
        {"id": "legacy", "type": "shell", "version": "2.0.0", "role": ["compute"],
         "condition": "settings:common.debug.value == true", "parameters": {"cmd": "debug"}},
    ])
}

/// Returns a server with a cluster of one controller and two compute nodes and a small graph.
pub(crate) async fn prepared_server() -> TestServer {
    let server = TestServer::new().await;
    let mut body = release_body();
    body.attributes_metadata["editable"]["access"] = json!({"entry": {"type": "password", "value": "open sesame"}, "pin": {"type": "password", "value": "4711"}});
    create_release_from(&server, body).await;
    server.post("clusters/", &json!({"name": "demo", "release_id": 1})).await.expect(201);
    ready_nodes(&server, &[&["controller"], &["compute"], &["compute", "ceph-osd"]]).await;
    server.put("clusters/1/deployment_tasks", &tasks()).await.expect(200);
    server
}

async fn instances_to_run(server: &TestServer, plan: i64) -> Vec<String> {
    let instances = server.get(&format!("plans/{plan}/instances?action=run")).await.expect(200);
    let instances = instances.as_array().unwrap().iter();
    instances
        .map(|instance| {
            format!("{}@{}", instance["task"].as_str().unwrap(), instance["node"].as_str().unwrap())
        })
        .collect()
}

#[tokio::test]
async fn plan_is_created_listed_read_and_deleted() {
    let server = prepared_server().await;
    let created = server.post("clusters/1/plans", &json!({})).await.expect(201);
    assert_eq!(
        (
            &created["id"],
            &created["cluster"],
            &created["graph_type"],
            &created["created_by"],
            &created["n_run"],
            &created["n_skip"]
        ),
        (&json!(1), &json!(1), &json!("default"), &json!("admin"), &json!(6), &json!(4))
    );
    let plan = server.get("plans/1").await.expect(200);
    assert_eq!(plan["tasks"][0], json!({"name": "always", "n_run": 2, "n_skip": 0}));
    let verdicts = json!({"condition_fails": 2, "condition_holds": 4, "no_condition": 2, "stage": 2});
    assert_eq!(plan["verdicts"], verdicts);
    assert_eq!(plan["estimate"]["n_unknown"], 6);
    assert_eq!(plan["estimate"]["critical_path"][0]["task"], "reads-debug");
    // A parameter that the task type does not define.
    let fields: Vec<&Value> =
        plan["warnings"].as_array().unwrap().iter().map(|warning| &warning["field"]).collect();
    assert_eq!(fields, ["parameters.password"]);
    let reply = server.get("plans/1/instances?task=reads-debug,legacy&limit=3&offset=1").await;
    assert_eq!(reply.header("content-range"), "objects 1-3/5");
    let page = reply.expect(200);
    assert_eq!(
        (&page[0]["task"], &page[0]["node"], &page[0]["type"]),
        (&json!("legacy"), &json!("3"), &json!(null))
    );
    assert_eq!(page[0]["reason"], "the condition `settings:common.debug.value == true` is false");
    assert_eq!((&page[1]["task"], &page[1]["action"]), (&json!("reads-debug"), &json!("run")));
    let list = server.get("clusters/1/plans?order_by=-id&limit=1").await;
    assert_eq!(list.header("content-range"), "objects 0-0/1");
    assert_eq!(list.expect(200)[0], created);
    let serialized = server.get("clusters/1/serialized_tasks").await.expect(200);
    let serialized: SerializedView = serde_json::from_value(serialized.clone()).unwrap();
    let parameters = serialized.tasks_graph["2"].clone();
    let always = parameters.as_array().unwrap().iter().find(|task| task["id"] == "always").unwrap();
    assert_eq!(always["parameters"]["cmd"], "on 1");
    assert_eq!(server.get("clusters/1/plans").await.expect(200).as_array().unwrap().len(), 1);
    server.delete("plans/1").await.expect(204);
    assert_eq!(server.get("plans/1").await.expect_error(404), "Plan not found");
    assert_eq!(server.get("plans/1/instances").await.expect_error(404), "Plan not found");
    let audit = server.get("audit?limit=2").await.expect(200);
    assert_eq!((&audit[0]["action"], &audit[1]["action"]), (&json!("plan.delete"), &json!("plan.create")));
}

#[tokio::test]
async fn plan_after_success_contains_only_changed_tasks_with_reason() {
    let server = prepared_server().await;
    server.post("clusters/1/plans", &json!({})).await.expect(201);
    record_successes(&server, 1).await;
    server.post("clusters/1/plans", &json!({})).await.expect(201);
    assert_eq!(instances_to_run(&server, 2).await, ["always@2", "always@3"]);
    server
        .put("clusters/1/attributes", &json!({"editable": {"common": {"debug": {"value": true}}}}))
        .await
        .expect(200);
    server.post("clusters/1/plans", &json!({})).await.expect(201);
    assert_eq!(
        instances_to_run(&server, 3).await,
        ["always@2", "always@3", "legacy@2", "legacy@3", "reads-debug@1", "reads-debug@2", "reads-debug@3"]
    );
    let instances = server.get("plans/3/instances?task=reads-debug&node=2").await.expect(200);
    assert_eq!(instances[0]["differences"], json!([{"path": "debug", "old": "false", "new": "true"}]));
    assert!(instances[0]["reason"].as_str().unwrap().contains("debug"), "{instances}");
    let compared = server.get("plans/2/compare/3").await.expect(200);
    let changes: Vec<(&str, &Value)> = compared["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| (change["task"].as_str().unwrap(), &change["nodes"]))
        .collect();
    assert_eq!(changes, [("legacy", &json!(["2", "3"])), ("reads-debug", &json!(["1", "2", "3"]))]);
    // `force` ignores previous successes.
    server.post("clusters/1/plans", &json!({"force": true})).await.expect(201);
    assert_eq!(instances_to_run(&server, 4).await.len(), 8);
    // Previous successes do not count for a reprovisioned node.
    server.put("nodes/2", &json!({"status": "provisioned"})).await.expect(200);
    server
        .put("clusters/1/attributes", &json!({"editable": {"common": {"debug": {"value": false}}}}))
        .await
        .expect(200);
    server.post("clusters/1/plans", &json!({})).await.expect(201);
    assert_eq!(instances_to_run(&server, 5).await, ["always@2", "always@3", "reads-debug@2"]);
}

#[tokio::test]
async fn invalid_task_parameters_are_plan_warnings() {
    let server = prepared_server().await;
    let tasks = json!([
        {"id": "no-command", "type": "shell", "version": "2.0.0", "role": "*", "parameters": {"comand": "ls"}},
        {"id": "no-file", "type": "copy_files", "version": "2.0.0", "role": ["controller"],
         "parameters": {"files": [{"src": "/a"}]}},
        {"id": "fine", "type": "puppet", "version": "2.0.0", "role": "*",
         "parameters": {"puppet_manifest": "/a.pp", "undefined_retries": 3}},
        {"id": "off", "type": "shell", "version": "2.0.0", "role": "*", "condition": false, "parameters": {}},
    ]);
    server.put("clusters/1/deployment_tasks", &tasks).await.expect(200);
    server.post("clusters/1/plans", &json!({})).await.expect(201);
    let plan = server.get("plans/1").await.expect(200);
    let warnings: Vec<String> = plan["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|warning| {
            format!("{} {} {}: {}", warning["task"], warning["field"], warning["nodes"], warning["message"])
        })
        .collect();
    assert_eq!(warnings.len(), 3, "{warnings:#?}");
    for (text, prefix) in [
        ("the task would fail", r#""no-command" "parameters.cmd" ["1","2","3"]"#),
        ("expected one of cmd, cwd", r#""no-command" "parameters.comand""#),
        ("the task would fail", r#""no-file" "parameters.files[0].dst" ["1"]"#),
    ] {
        assert!(
            warnings.iter().any(|line| line.contains(text) && line.starts_with(prefix)),
            "{prefix}: {warnings:#?}"
        );
    }
}

#[tokio::test]
async fn plan_responses_redact_secrets() {
    let server = prepared_server().await;
    server.post("clusters/1/plans", &json!({})).await.expect(201);
    record_successes(&server, 1).await;
    let secrets = ["open sesame", "4711", "other words", "0815", "hunter2"];
    let change =
        json!({"editable": {"access": {"entry": {"value": "other words"}, "pin": {"value": "0815"}}}});
    server.put("clusters/1/attributes", &change).await.expect(200);
    server.post("clusters/1/plans", &json!({})).await.expect(201);
    assert_eq!(instances_to_run(&server, 2).await, ["always@2", "always@3", "reads-password@1"]);
    for path in [
        "plans/1",
        "plans/1/instances",
        "plans/2",
        "plans/2/instances",
        "plans/2/instances?parameters=1",
        "plans/2/differences",
        "plans/1/compare/2",
        "clusters/1/serialized_tasks",
        "clusters/1/plans",
        "plans/2/picture",
    ] {
        let text = server.get(path).await.expect(200).to_string();
        for secret in secrets {
            assert!(!text.contains(secret), "{path}: {secret}: {text}");
        }
    }
    let instances =
        server.get("plans/2/instances?parameters=1&action=run&task=reads-password").await.expect(200);
    assert_eq!(instances[0]["parameters"], json!({"cmd": "login (secret)", "password": "(secret)"}));
    let instances = server.get("plans/2/instances?task=reads-password").await.expect(200);
    assert_eq!(instances[0].get("parameters"), None);
    assert!(instances[0]["differences"].to_string().contains("(secret)"), "{instances}");
}

#[tokio::test]
async fn plan_responses_redact_node_secrets() {
    let server = prepared_server().await;
    let tasks = json!([{"id": "reads-own", "type": "shell", "version": "2.0.0", "role": "*",
        "parameters": {"cmd": {"yaql_exp": "concat('as ', $.database.get(password, nobody))"}}}]);
    server.put("clusters/1/deployment_tasks", &tasks).await.expect(200);
    let supply = async |password: &str| {
        let facts = json!([
            {"uid": "1", "database": {"password": password}},
            {"uid": "2", "database": {"password": "for the second"}},
            {"uid": "3", "database": {}},
        ]);
        server.put("clusters/1/orchestrator/deployment", &facts).await.expect(200);
        server.post("clusters/1/plans", &json!({})).await.expect(201);
    };
    supply("swordfish of one").await;
    supply("swordfish of old").await;
    for path in ["plans/2/instances?parameters=1", "plans/1/compare/2"] {
        let text = server.get(path).await.expect(200).to_string();
        assert!(!text.contains("swordfish") && !text.contains("for the second"), "{path}: {text}");
    }
    let instances = server.get("plans/2/instances?parameters=1&task=reads-own").await.expect(200);
    let commands: Vec<&Value> =
        instances.as_array().unwrap().iter().map(|instance| &instance["parameters"]["cmd"]).collect();
    assert_eq!(commands, ["as (secret)", "as (secret)", "as nobody"]);
}

#[tokio::test]
async fn viewer_gets_redacted_secrets() {
    let server = prepared_server().await;
    let viewer = server.create_user("vic", "admin", "viewer").await;
    let operator = server.create_user("olga", "admin", "operator").await;
    let facts = json!({"engine": {"password": "of the engine"}, "nodes": [{"uid": "1", "root_password": "of the node"}]});
    server.put("clusters/1/orchestrator/provisioning", &facts).await.expect(200);
    for (path, secret) in [
        ("clusters/1/attributes", "open sesame"),
        ("clusters/1/attributes/defaults", "open sesame"),
        ("clusters/1/orchestrator/deployment", "open sesame"),
        ("clusters/1/orchestrator/deployment/defaults", "open sesame"),
        ("clusters/1/orchestrator/provisioning", "of the node"),
        ("clusters/1/orchestrator/provisioning", "of the engine"),
    ] {
        let read = async |token: &str| {
            server.send_as(token, "GET", path, &Value::Null).await.expect(200).to_string()
        };
        let (redacted, full) = (read(&viewer).await, read(&operator).await);
        assert!(!redacted.contains(secret) && redacted.contains("(secret)"), "{path}: {redacted}");
        assert!(full.contains(secret), "{path}: {full}");
    }
}

#[tokio::test]
async fn plan_reports_changes_since_creation() {
    let server = prepared_server().await;
    let body = json!({"nodes": [1, 2], "tasks": ["always", "reads-debug"], "subgraphs": [{"start": ["deploy_start"]}]});
    server.post("clusters/1/plans", &body).await.expect(201);
    let changes = async || server.get("plans/1/changes").await.expect(200);
    assert_eq!(changes().await, json!({"is_current": true, "changes": []}));
    server
        .put("clusters/1/attributes", &json!({"editable": {"common": {"debug": {"value": true}}}}))
        .await
        .expect(200);
    let response = changes().await;
    assert_eq!(response["is_current"], false);
    assert!(
        response["changes"].as_array().unwrap().contains(&json!("the setting `debug` of all nodes")),
        "{response}"
    );
    let mut tasks = tasks();
    tasks.as_array_mut().unwrap().retain(|task| task["id"] != "always");
    server.put("clusters/1/deployment_tasks", &tasks).await.expect(200);
    assert_eq!(changes().await["changes"], json!(["Tasks always are not present in deployment graph"]));
    server.get("plans/9/changes").await.expect_error(404);
}

#[tokio::test]
async fn plan_can_be_limited_to_tasks_nodes_and_subgraphs() {
    let server = prepared_server().await;
    for (body, expected) in [
        (json!({"tasks": ["always"]}), vec!["always@2", "always@3"]),
        (json!({"nodes": [2], "tasks": ["always", "legacy"]}), vec!["always@2"]),
        (json!({"nodes": [1]}), vec!["reads-debug@1", "reads-password@1"]),
        (json!({"nodes": []}), vec![]),
        (json!({"subgraphs": [{"start": ["always/3"], "end": [null]}]}), vec!["always@3"]),
        (
            json!({"graph_type": "default", "force": false, "subgraphs": [{"end": ["reads-debug/1"]}]}),
            vec!["reads-debug@1"],
        ),
    ] {
        let id = server.post("clusters/1/plans", &body).await.expect(201)["id"].as_i64().unwrap();
        assert_eq!(instances_to_run(&server, id).await, expected, "{body}");
    }
    let excluded = server.get("plans/3").await.expect(200)["excluded"].clone();
    assert_eq!(
        excluded,
        json!([{"why": "the node is not selected", "offline": false, "nodes": ["2", "3"], "n_nodes": 2}])
    );
    assert_eq!(server.get("plans/3").await.expect(200)["request"]["nodes"], json!([1]));
}

#[tokio::test]
async fn invalid_plan_request_is_refused_with_reason() {
    let server = prepared_server().await;
    create_second_cluster(&server).await;
    for (body, message) in [
        (json!([]), "must be a map"),
        (json!({"nods": []}), "unknown key `nods`"),
        (json!({"graph_type": "no/type"}), "graph_type"),
        (
            json!({"graph_type": "unheard-of"}),
            "There are no deployment tasks for graph type 'unheard-of'. Checked cluster (ID=1), its plugins and release (ID=1).",
        ),
        (json!({"nodes": ["x"]}), "nodes[0]"),
        (json!({"nodes": [1, 4, 99]}), "Nodes 4, 99 do not belong to cluster 1"),
        (
            json!({"tasks": ["always", "never", "ever"]}),
            "Tasks never,ever are not present in deployment graph",
        ),
        (json!({"tasks": [1]}), "tasks[0]"),
        (json!({"force": "yes"}), "force"),
        (json!({"subgraphs": [{"begin": []}]}), "unknown key `begin`"),
        (json!({"subgraphs": {"start": []}}), "must be a list"),
    ] {
        let error = server.post("clusters/1/plans", &body).await.expect_error(400);
        assert!(error.contains(message), "{body}: {error}");
    }
    assert_eq!(server.get("clusters/1/plans").await.expect(200), json!([]));
    server.post("clusters/9/plans", &json!({})).await.expect_error(404);
    server.get("clusters/9/plans").await.expect_error(404);
    server.get("clusters/1/plans?limit=x").await.expect_error(400);
    server.get("clusters/1/plans?order_by=document").await.expect_error(400);
    for path in ["plans/1", "plans/x", "plans/0", "plans/1/instances", "plans/1/compare/2"] {
        assert_eq!(server.get(path).await.expect_error(404), "Plan not found", "{path}");
    }
    assert_eq!(server.delete("plans/1").await.expect_error(404), "Plan not found");
    server.post("clusters/1/plans", &json!({})).await.expect(201);
    server.get("plans/1/instances?action=jump").await.expect_error(400);
    server.get("plans/1/instances?limit=-1").await.expect_error(400);
    server.get("plans/1/instances?offset=10").await.expect_error(416);
    assert_eq!(server.get("plans/1/compare/9").await.expect_error(404), "Plan not found");
    assert_eq!(
        server.get("clusters/1/serialized_tasks?nodes=4").await.expect_error(400),
        "Nodes 4 do not belong to cluster 1"
    );
    server.get("clusters/1/serialized_tasks?nodes=x").await.expect_error(400);
    server.get("clusters/1/serialized_tasks?graph_type=unheard-of").await.expect_error(400);
    server.get("clusters/9/serialized_tasks").await.expect_error(404);
}

/// Creates cluster 2 and the unassigned node 4.
async fn create_second_cluster(server: &TestServer) {
    server.post("clusters/", &json!({"name": "second", "release_id": 1})).await.expect(201);
    create_node(server, 9).await;
}

#[tokio::test]
async fn graph_errors_name_task_field_and_nodes() {
    let server = prepared_server().await;
    let broken = json!([
        {"id": "a", "type": "shell", "version": "2.0.0", "role": ["compute"], "condition": {"yaql_exp": "$.nowhere"}},
        {"id": "b", "type": "shell", "version": "2.0.0", "role": ["controller"],
         "parameters": {"cmd": {"yaql_exp": "$.access.entry + 1"}}},
        {"id": "c", "type": "shell", "version": "2.0.0", "role": "*", "cross-depends": [{"name": "c"}], "parameters": {"cmd": "x"}},
    ]);
    server.post("clusters/1/deployment_graphs/broken", &json!({"tasks": broken})).await.expect(200);
    let reply = server.post("clusters/1/plans", &json!({"graph_type": "broken"})).await.expect(400);
    let errors = reply["errors"].as_array().unwrap();
    let locations: Vec<(&str, &Value)> =
        errors.iter().map(|error| (error["path"].as_str().unwrap(), &error["nodes"])).collect();
    assert!(locations.contains(&("tasks.a.condition", &json!(["2", "3"]))), "{reply}");
    assert!(locations.contains(&("tasks.b.parameters.cmd", &json!(["1"]))), "{reply}");
    assert!(errors.iter().any(|error| error["code"] == "plan-cycle"), "{reply}");
    assert!(!reply.to_string().contains("open sesame"), "{reply}");
    assert_eq!(server.get("clusters/1/plans").await.expect(200), json!([]));
}

#[tokio::test]
async fn plans_of_other_tenants_are_not_found() {
    let server = prepared_server().await;
    server.post("clusters/1/plans", &json!({})).await.expect(201);
    let member = server.create_user("eve", "elsewhere", "member").await;
    for (method, path) in [
        ("GET", "plans/1"),
        ("GET", "plans/1/instances"),
        ("GET", "plans/1/compare/1"),
        ("GET", "clusters/1/plans"),
        ("GET", "clusters/1/serialized_tasks"),
        ("GET", "plans/1/picture"),
        ("GET", "plans/1/changes"),
        ("GET", "plans/1/differences"),
        ("GET", "clusters/1/deploy_tasks/graph.gv"),
    ] {
        server.send_as(&member, method, path, &Value::Null).await.expect_error(404);
    }
    server.send_as(&member, "POST", "clusters/1/plans", &json!({})).await.expect_error(403);
    server.send_as(&member, "DELETE", "plans/1", &Value::Null).await.expect_error(403);
    let viewer = server.create_user("vic", "admin", "viewer").await;
    server.send_as(&viewer, "GET", "plans/1", &Value::Null).await.expect(200);
}

#[tokio::test]
async fn planner_creates_and_reads_plans_and_applies_none() {
    let server = prepared_server().await;
    let planner = server.create_user("petra", "admin", "planner").await;
    let as_planner = async |method, path, body: &Value| server.send_as(&planner, method, path, body).await;
    let plan = as_planner("POST", "clusters/1/plans", &json!({})).await.expect(201);
    assert_eq!(plan["created_by"], "petra");
    for path in ["plans/1", "plans/1/instances", "plans/1/changes", "clusters/1/plans"] {
        as_planner("GET", path, &Value::Null).await.expect(200);
    }
    for (method, path, body) in [
        ("POST", "plans/1/apply", json!({})),
        ("DELETE", "plans/1", Value::Null),
        ("PUT", "clusters/1/changes", json!({})),
        ("POST", "graphs/execute", json!({"cluster": 1, "dry_run": true})),
        ("PUT", "clusters/1/attributes", json!({})),
        ("PUT", "clusters/1/deployment_tasks", json!([])),
    ] {
        let message = as_planner(method, path, &body).await.expect_error(403);
        assert!(message.contains("lacks the permission"), "{path}: {message}");
    }
    assert_eq!(server.get("transactions").await.expect(200), json!([]));
}

#[tokio::test]
async fn cluster_deletion_deletes_its_plans() {
    let server = prepared_server().await;
    server.post("clusters/1/plans", &json!({})).await.expect(201);
    server.delete("clusters/1?force=1").await.expect(202);
    assert_eq!(server.get("plans/1").await.expect_error(404), "Plan not found");
}

#[tokio::test]
async fn primary_node_is_stable_between_plans() {
    let server = TestServer::new().await;
    let mut body = release_body();
    body.tags_metadata = map(json!({"controller": {"has_primary": true}}));
    create_release_from(&server, body).await;
    server.post("clusters/", &json!({"name": "demo", "release_id": 1})).await.expect(201);
    ready_nodes(&server, &[&["compute"], &["controller"]]).await;
    let tasks = json!([{"id": "first", "type": "shell", "version": "2.0.0", "role": ["primary-controller"], "parameters": {"cmd": "x"}}]);
    server.put("clusters/1/deployment_tasks", &tasks).await.expect(200);
    server.post("clusters/1/plans", &json!({})).await.expect(201);
    assert_eq!(instances_to_run(&server, 1).await, ["first@2"]);
    let mut transaction = begin_write(&server).await;
    let mut node = transaction.node_get(NodeId(1)).await.unwrap().unwrap();
    node.roles = vec!["controller".to_owned()];
    transaction.node_update(&node).await.unwrap();
    commit(transaction).await;
    server.post("clusters/1/plans", &json!({})).await.expect(201);
    assert_eq!(instances_to_run(&server, 2).await, ["first@2"]);
    let facts = server.get("clusters/1/orchestrator/deployment").await.expect(200);
    assert_eq!(
        (&facts[0]["roles"], &facts[1]["roles"]),
        (&json!(["controller"]), &json!(["primary-controller"]))
    );
}
