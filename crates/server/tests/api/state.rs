//! The serialized cluster state on which expressions are evaluated.

use serde_json::{Value, json};
use stoker_model::{NodeErrorKind, NodeId};

use crate::beginnings::{create_release_from, map, release_body};
use crate::fixtures::{begin_write, commit};
use crate::plans::ready_nodes;
use crate::support::TestServer;

async fn prepared_server() -> TestServer {
    let server = TestServer::new().await;
    let mut body = release_body();
    body.roles_metadata["controller"]["tags"] = json!(["controller", "database"]);
    body.tags_metadata = map(json!({"controller": {"has_primary": true}, "database": {"has_primary": true}}));
    create_release_from(&server, body).await;
    server.post("clusters/", &json!({"name": "demo", "release_id": 1})).await.expect(201);
    ready_nodes(&server, &[&["controller"], &["compute", "ceph-osd"]]).await;
    server
}

async fn common(server: &TestServer) -> Value {
    server.get("clusters/1/orchestrator/deployment?split=1").await.expect(200)[0].clone()
}

#[tokio::test]
async fn common_document_contains_settings_nested_and_flat() {
    let server = prepared_server().await;
    let change = json!({"editable": {"common": {"debug": {"value": true}}, "configs": {"nova": {"value": {"cpu": 4}}}}});
    server.put("clusters/1/attributes", &change).await.expect(200);
    let common = common(&server).await;
    assert_eq!(common["settings"]["common"]["debug"]["value"], true);
    assert_eq!((&common["debug"], &common["configs"]["nova"]), (&json!(true), &json!({"cpu": 4})));
    assert_eq!(common["cluster"]["status"], "new");
    assert_eq!(common["release"]["operating_system"], "Ubuntu");
    assert!(common["mysql"]["password"].is_string(), "generated values are included: {common}");
}

#[tokio::test]
async fn nodes_are_listed_per_role_with_primary_tags() {
    let server = prepared_server().await;
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
    let server = prepared_server().await;
    let tasks =
        json!([{"id": "t", "type": "shell", "version": "2.0.0", "role": "*", "parameters": {"cmd": "x"}}]);
    let selected_nodes = async |filter: Value| {
        let graph = json!({"tasks": tasks, "node_filter": filter});
        server.put("clusters/1/deployment_graphs/default", &graph).await.expect(200);
        let plan = server.post("clusters/1/plans", &json!({})).await;
        if plan.status != 201 {
            return plan.expect_error(400);
        }
        let path = format!("plans/{}/instances?action=run", plan.expect(201)["id"]);
        let instances = server.get(&path).await.expect(200);
        instances
            .as_array()
            .unwrap()
            .iter()
            .map(|instance| instance["node"].as_str().unwrap())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(selected_nodes(json!("")).await, "1 2");
    assert_eq!(selected_nodes(json!("compute in $.roles")).await, "2");
    assert_eq!(selected_nodes(json!("$.labels.get(rack) = '7'")).await, "");
    server.put("nodes/1", &json!({"labels": {"rack": "7"}})).await.expect(200);
    assert_eq!(selected_nodes(json!("$.labels.get(rack) = '7'")).await, "1");
    assert!(selected_nodes(json!("$.nowhere")).await.contains("nowhere"));
}

#[tokio::test]
async fn offline_and_leaving_nodes_are_excluded_from_plans() {
    let server = prepared_server().await;
    let tasks =
        json!([{"id": "t", "type": "shell", "version": "2.0.0", "role": "*", "parameters": {"cmd": "x"}}]);
    server.put("clusters/1/deployment_tasks", &tasks).await.expect(200);
    let mut transaction = begin_write(&server).await;
    for (id, is_leaving) in [(1, false), (2, true)] {
        let mut node = transaction.node_get(NodeId(id)).await.unwrap().unwrap();
        node.online = is_leaving;
        node.pending_deletion = is_leaving;
        node.error_type = Some(NodeErrorKind::Deploy);
        transaction.node_update(&node).await.unwrap();
    }
    commit(transaction).await;
    let plan = server.post("clusters/1/plans", &json!({})).await.expect(201);
    assert_eq!(plan["n_run"], 0);
    let plan_view = server.get("plans/1").await.expect(200);
    let excluded: Vec<&serde_json::Value> =
        plan_view["excluded"].as_array().unwrap().iter().map(|excluded| &excluded["nodes"]).collect();
    assert_eq!(excluded.len(), 2, "{plan_view}");
    assert!(excluded.contains(&&json!(["1"])) && excluded.contains(&&json!(["2"])), "{plan_view}");
    // An offline node can be requested; the plan warns about it.
    server.post("clusters/1/plans", &json!({"nodes": [1]})).await.expect(201);
    let plan_view = server.get("plans/2").await.expect(200);
    let warnings = plan_view["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning["code"] == "plan-unknown-node"), "{plan_view}");
}
