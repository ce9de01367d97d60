//! The real graph on the real cluster, through the front door.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use stoker_model::{ClusterId, JsonMap, NewNode, NodeId, NodeStatus};
use stoker_testkit::real_data;

use crate::beginnings::{map, release_body, release_of};
use crate::fixtures::{commit, writing};
use crate::plans::succeed;
use crate::support::TestServer;

const NODES: &[(i64, &str, &str)] = &[
    (126, "controller", "node-126.primary-controller.yaml"),
    (127, "compute", "node-127.compute.yaml"),
    (128, "ceph-osd", "node-128.ceph-osd.yaml"),
    (129, "controller", "node-129.controller.yaml"),
    (131, "mongo", "node-131.primary-mongo.yaml"),
    (132, "mongo", "node-132.mongo.yaml"),
];

fn yaml(text: &str) -> Value {
    // One of the real documents has a key twice; the last one counts, as everywhere.
    let limits =
        stoker_yaml::Limits { size_bytes_max: 64 << 20, nodes_max: 10_000_000, ..Default::default() };
    let loaded = stoker_yaml::load(text, &limits);
    let mut problems = stoker_manifest::Problems::default();
    stoker_manifest::reader::json(&loaded.documents[0].root, &mut problems).unwrap()
}

fn read(name: &str) -> Option<String> {
    std::fs::read_to_string(real_data(name)?).ok()
}

/// Nodes up to 132, of which six are in the cluster.
async fn nodes(server: &TestServer) {
    let mut writing = writing(server).await;
    for id in 1..=132_i64 {
        let new = NewNode {
            mac: format!("00:00:00:00:{:02x}:{:02x}", id / 256, id % 256),
            ip: None,
            name: None,
            hostname: None,
            manufacturer: None,
            platform_name: None,
            os_platform: None,
            labels: JsonMap::new(),
            meta: JsonMap::new(),
            facts: JsonMap::new(),
        };
        let mut node = writing.node_create(&new).await.unwrap();
        if let Some((_, role, _)) = NODES.iter().find(|(member, ..)| NodeId(*member) == node.id) {
            node.cluster_id = Some(ClusterId(1));
            node.status = NodeStatus::Ready;
            node.online = true;
            node.roles = vec![(*role).to_owned()];
            writing.node_update(&node).await.unwrap();
        }
    }
    commit(writing).await;
}

/// The documents of the six nodes.
fn documents() -> Option<Vec<Value>> {
    NODES.iter().map(|(_, _, file)| Some(yaml(&read(&format!("nodes/{file}"))?))).collect()
}

async fn prepared() -> Option<TestServer> {
    let metadata = yaml(&read("nodes/roles-and-tags.yaml")?);
    let tasks = yaml(&read("fuel-library/default-graph.yaml")?);
    let server = TestServer::new().await;
    let mut body = release_body();
    body.roles_metadata = map(metadata["roles_metadata"].clone());
    body.tags_metadata = map(metadata["tags_metadata"].clone());
    let release_id = release_of(&server, body).await;
    server.post("clusters/", &json!({"name": "real", "release_id": release_id})).await.expect(201);
    nodes(&server).await;
    server.put(&format!("releases/{release_id}/deployment_tasks"), &tasks).await.expect(200);
    server.put("clusters/1/orchestrator/deployment", &Value::Array(documents()?)).await.expect(200);
    Some(server)
}

/// By node what runs.
async fn executed(server: &TestServer, plan_id: i64) -> BTreeMap<String, Vec<String>> {
    let mut executed: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let shown = server.get(&format!("plans/{plan_id}/instances?action=run&limit=1000")).await.expect(200);
    for one in shown.as_array().unwrap() {
        let text = |key: &str| one[key].as_str().unwrap().to_owned();
        executed.entry(text("node")).or_default().push(text("task"));
    }
    executed
}

fn expected(plans: &Value, name: &str) -> BTreeMap<String, Vec<String>> {
    let nodes = plans["default"]["executed"][name].as_object().unwrap().iter();
    let nodes = nodes.map(|(node, tasks)| {
        let mut tasks: Vec<String> =
            tasks.as_array().unwrap().iter().map(|task| task.as_str().unwrap().to_owned()).collect();
        tasks.sort();
        (node.clone(), tasks)
    });
    nodes.filter(|(_, tasks)| !tasks.is_empty()).collect()
}

#[tokio::test]
async fn real_graph_plan_matches_the_reference() {
    let Some(server) = prepared().await else { return };
    let plans: Value = serde_json::from_str(&read("expected/plans.json").unwrap()).unwrap();
    let made = server.post("clusters/1/plans", &json!({})).await.expect(201);
    assert_eq!((&made["n_run"], &made["n_skip"]), (&json!(351), &json!(104)));
    assert_eq!(executed(&server, 1).await, expected(&plans, "none"));
    let groups = server.get("plans/1").await.expect(200)["fault_tolerance_groups"].clone();
    assert!(
        groups.as_array().unwrap().contains(&json!({"name": "ceph-osd", "n_nodes": 1, "tolerated": 2})),
        "{groups}"
    );
    // The password of the administrator, and one that the state has in no setting of type password.
    let old_shape = server.get("clusters/1/serialized_tasks").await.expect(200).to_string();
    assert!(!old_shape.contains("OhQJSjJm0wVaH1Zf4Cdhuc64"));
    succeed(&server, 1).await;
    let made = server.post("clusters/1/plans", &json!({})).await.expect(201);
    assert_eq!(made["n_run"], 22);
    assert_eq!(executed(&server, 2).await, expected(&plans, "same"));
    debug_is_seen(&server).await;
}

async fn debug_is_seen(server: &TestServer) {
    let mut changed = documents().unwrap();
    for document in &mut changed {
        document["debug"] = json!(true);
    }
    server.put("clusters/1/orchestrator/deployment", &Value::Array(changed)).await.expect(200);
    server.post("clusters/1/plans", &json!({})).await.expect(201);
    let before = executed(server, 2).await;
    let shown = server.get("plans/3/instances?action=run&limit=1000").await.expect(200);
    let graph = server.get("clusters/1/deployment_tasks").await.expect(200);
    let reads_debug = |name: &str| {
        let task = graph.as_array().unwrap().iter().find(|task| task["id"] == name).unwrap();
        let condition = task["condition"].to_string();
        condition.contains("debug") || condition.contains("changed($)")
    };
    let mut n_new = 0;
    for one in shown.as_array().unwrap() {
        let (node, task) = (one["node"].as_str().unwrap(), one["task"].as_str().unwrap());
        if before.get(node).is_some_and(|tasks| tasks.iter().any(|known| known == task)) {
            continue;
        }
        n_new += 1;
        assert!(reads_debug(task), "{one}");
        let difference = &one["differences"][0];
        assert!(difference["path"].as_str().unwrap().ends_with("debug"), "{one}");
        assert_eq!((&difference["old"], &difference["new"]), (&json!("false"), &json!("true")), "{one}");
    }
    assert!(n_new > 30, "{n_new}");
}
