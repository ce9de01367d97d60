//! What expressions see of a cluster, as the API shows it.

use serde_json::{Value, json};
use stoker_model::{NodeErrorKind, NodeId};

use crate::beginnings::{map, release_body, release_of};
use crate::fixtures::{commit, writing};
use crate::plans::ready_nodes;
use crate::support::TestServer;

async fn prepared() -> TestServer {
    let server = TestServer::new().await;
    let mut body = release_body();
    body.roles_metadata["controller"]["tags"] = json!(["controller", "database"]);
    body.tags_metadata = map(json!({"controller": {"has_primary": true}, "database": {"has_primary": true}}));
    release_of(&server, body).await;
    server.post("clusters/", &json!({"name": "demo", "release_id": 1})).await.expect(201);
    ready_nodes(&server, &[&["controller"], &["compute", "ceph-osd"]]).await;
    server
}

async fn common(server: &TestServer) -> Value {
    server.get("clusters/1/orchestrator/deployment?split=1").await.expect(200)[0].clone()
}

#[tokio::test]
async fn common_document_contains_settings_nested_and_flat() {
    let server = prepared().await;
    let change = json!({"editable": {"common": {"debug": {"value": true}}, "configs": {"nova": {"value": {"cpu": 4}}}}});
    server.put("clusters/1/attributes", &change).await.expect(200);
    let common = common(&server).await;
    assert_eq!(common["settings"]["common"]["debug"]["value"], true);
    assert_eq!((&common["debug"], &common["configs"]["nova"]), (&json!(true), &json!({"cpu": 4})));
    assert_eq!(common["cluster"]["status"], "new");
    assert_eq!(common["release"]["operating_system"], "Ubuntu");
    assert!(common["mysql"]["password"].is_string(), "generated values lie beneath: {common}");
}

#[tokio::test]
async fn nodes_are_listed_per_role_with_primary_tags() {
    let server = prepared().await;
    let common = common(&server).await;
    let listed: Vec<(&Value, &Value)> =
        common["nodes"].as_array().unwrap().iter().map(|node| (&node["uid"], &node["role"])).collect();
    assert_eq!(
        listed,
        [
            (&json!("1"), &json!("controller")),
            (&json!("2"), &json!("ceph-osd")),
            (&json!("2"), &json!("compute"))
        ]
    );
    let nodes = server.get("clusters/1/orchestrator/deployment").await.expect(200);
    assert_eq!(nodes[0]["roles"], json!(["primary-controller", "primary-database"]));
    assert_eq!(nodes[1]["roles"], json!(["ceph-osd", "compute"]));
}

#[tokio::test]
async fn node_filter_is_evaluated_on_node_state() {
    let server = prepared().await;
    let tasks =
        json!([{"id": "t", "type": "shell", "version": "2.0.0", "role": "*", "parameters": {"cmd": "x"}}]);
    let running = async |filter: Value| {
        let graph = json!({"tasks": tasks, "node_filter": filter});
        server.put("clusters/1/deployment_graphs/default", &graph).await.expect(200);
        let plan = server.post("clusters/1/plans", &json!({})).await;
        if plan.status != 201 {
            return plan.refused(400);
        }
        let path = format!("plans/{}/instances?action=run", plan.expect(201)["id"]);
        let shown = server.get(&path).await.expect(200);
        shown
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["node"].as_str().unwrap())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(running(json!("")).await, "1 2");
    assert_eq!(running(json!("compute in $.roles")).await, "2");
    assert_eq!(running(json!("$.labels.get(rack) = '7'")).await, "");
    server.put("nodes/1", &json!({"labels": {"rack": "7"}})).await.expect(200);
    assert_eq!(running(json!("$.labels.get(rack) = '7'")).await, "1");
    assert!(running(json!("$.nowhere")).await.contains("nowhere"));
}

#[tokio::test]
async fn offline_and_leaving_nodes_are_excluded_from_plans() {
    let server = prepared().await;
    let tasks =
        json!([{"id": "t", "type": "shell", "version": "2.0.0", "role": "*", "parameters": {"cmd": "x"}}]);
    server.put("clusters/1/deployment_tasks", &tasks).await.expect(200);
    let mut writing = writing(&server).await;
    for (id, is_leaving) in [(1, false), (2, true)] {
        let mut node = writing.node_get(NodeId(id)).await.unwrap().unwrap();
        node.online = is_leaving;
        node.pending_deletion = is_leaving;
        node.error_type = Some(NodeErrorKind::Deploy);
        writing.node_update(&node).await.unwrap();
    }
    commit(writing).await;
    let plan = server.post("clusters/1/plans", &json!({})).await.expect(201);
    assert_eq!(plan["n_run"], 0);
    let shown = server.get("plans/1").await.expect(200);
    let excluded: Vec<&serde_json::Value> =
        shown["excluded"].as_array().unwrap().iter().map(|excluded| &excluded["nodes"]).collect();
    assert_eq!(excluded.len(), 2, "{shown}");
    assert!(excluded.contains(&&json!(["1"])) && excluded.contains(&&json!(["2"])), "{shown}");
    // One that is away can be asked for and does not come.
    server.post("clusters/1/plans", &json!({"nodes": [1]})).await.expect(201);
    let shown = server.get("plans/2").await.expect(200);
    let warnings = shown["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning["code"] == "plan-unknown-node"), "{shown}");
}
