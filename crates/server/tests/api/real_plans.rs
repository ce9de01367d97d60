//! The real deployment graph planned on a real cluster over REST, compared with the reference.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use stoker_model::{ClusterId, JsonMap, NewNode, NodeId, NodeStatus};
use stoker_testkit::real_data;

use crate::beginnings::{create_release_from, map, release_body};
use crate::fixtures::{begin_write, commit};
use crate::plans::record_successes;
use crate::support::TestServer;

const NODES: &[(i64, &str, &str)] = &[
    (126, "controller", "node-126.primary-controller.yaml"),
    (127, "compute", "node-127.compute.yaml"),
    (128, "ceph-osd", "node-128.ceph-osd.yaml"),
    (129, "controller", "node-129.controller.yaml"),
    (131, "mongo", "node-131.primary-mongo.yaml"),
    (132, "mongo", "node-132.mongo.yaml"),
];

fn parse_yaml(text: &str) -> Value {
    // One of the real documents has a duplicate key; the last value is used.
    let limits =
        stoker_yaml::LoadLimits { size_bytes_max: 64 << 20, nodes_max: 10_000_000, ..Default::default() };
    let loaded = stoker_yaml::load(text, &limits);
    let mut problems = stoker_diagnostics::Diagnostics::default();
    stoker_manifest::reader::json(&loaded.documents[0].root, &mut problems).unwrap()
}

fn read_data(name: &str) -> Option<String> {
    std::fs::read_to_string(real_data(name)?).ok()
}

/// Creates nodes 1 to 132, of which six are in the cluster.
async fn create_nodes(server: &TestServer) {
    let mut transaction = begin_write(server).await;
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
        let mut node = transaction.node_create(&new).await.unwrap();
        if let Some((_, role, _)) = NODES.iter().find(|(member, ..)| NodeId(*member) == node.id) {
            node.cluster_id = Some(ClusterId(1));
            node.status = NodeStatus::Ready;
            node.online = true;
            node.roles = vec![(*role).to_owned()];
            transaction.node_update(&node).await.unwrap();
        }
    }
    commit(transaction).await;
}

/// Returns the state documents of the six nodes.
fn node_documents() -> Option<Vec<Value>> {
    NODES.iter().map(|(_, _, file)| Some(parse_yaml(&read_data(&format!("nodes/{file}"))?))).collect()
}

async fn prepared_server() -> Option<TestServer> {
    let metadata = parse_yaml(&read_data("nodes/roles-and-tags.yaml")?);
    let tasks = parse_yaml(&read_data("fuel-library/default-graph.yaml")?);
    let server = TestServer::new().await;
    let mut body = release_body();
    body.roles_metadata = map(metadata["roles_metadata"].clone());
    body.tags_metadata = map(metadata["tags_metadata"].clone());
    let release_id = create_release_from(&server, body).await;
    server.post("clusters/", &json!({"name": "real", "release_id": release_id})).await.expect(201);
    create_nodes(&server).await;
    server.put(&format!("releases/{release_id}/deployment_tasks"), &tasks).await.expect(200);
    server.put("clusters/1/orchestrator/deployment", &Value::Array(node_documents()?)).await.expect(200);
    Some(server)
}

/// The cluster has no node with role `ironic`, of which the metadata requires one.
fn plan_body() -> Value {
    json!({"ignore_limits": true})
}

/// Returns the tasks that a plan runs, by node.
async fn tasks_to_run(server: &TestServer, plan_id: i64) -> BTreeMap<String, Vec<String>> {
    let mut tasks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let instances = server.get(&format!("plans/{plan_id}/instances?action=run&limit=1000")).await.expect(200);
    for instance in instances.as_array().unwrap() {
        let text = |key: &str| instance[key].as_str().unwrap().to_owned();
        tasks.entry(text("node")).or_default().push(text("task"));
    }
    tasks
}

fn expected_tasks(plans: &Value, name: &str) -> BTreeMap<String, Vec<String>> {
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
    let Some(server) = prepared_server().await else { return };
    let plans: Value = serde_json::from_str(&read_data("expected/plans.json").unwrap()).unwrap();
    let created = server.post("clusters/1/plans", &plan_body()).await.expect(201);
    assert_eq!((&created["n_run"], &created["n_skip"]), (&json!(351), &json!(104)));
    assert_eq!(tasks_to_run(&server, 1).await, expected_tasks(&plans, "none"));
    let groups = server.get("plans/1").await.expect(200)["fault_tolerance_groups"].clone();
    assert!(
        groups.as_array().unwrap().contains(&json!({"name": "ceph-osd", "n_nodes": 1, "tolerated": 2})),
        "{groups}"
    );
    // A password that is in no setting of type `password` is redacted too.
    let old_shape = server.get("clusters/1/serialized_tasks").await.expect(200).to_string();
    assert!(!old_shape.contains("OhQJSjJm0wVaH1Zf4Cdhuc64"));
    record_successes(&server, 1).await;
    let created = server.post("clusters/1/plans", &plan_body()).await.expect(201);
    assert_eq!(created["n_run"], 22);
    assert_eq!(tasks_to_run(&server, 2).await, expected_tasks(&plans, "same"));
    check_debug_change(&server).await;
}

async fn check_debug_change(server: &TestServer) {
    let mut changed = node_documents().unwrap();
    for document in &mut changed {
        document["debug"] = json!(true);
    }
    server.put("clusters/1/orchestrator/deployment", &Value::Array(changed)).await.expect(200);
    server.post("clusters/1/plans", &plan_body()).await.expect(201);
    let before = tasks_to_run(server, 2).await;
    let instances = server.get("plans/3/instances?action=run&limit=1000").await.expect(200);
    let graph = server.get("clusters/1/deployment_tasks").await.expect(200);
    let reads_debug = |name: &str| {
        let task = graph.as_array().unwrap().iter().find(|task| task["id"] == name).unwrap();
        let condition = task["condition"].to_string();
        condition.contains("debug") || condition.contains("changed($)")
    };
    let mut n_new = 0;
    for instance in instances.as_array().unwrap() {
        let (node, task) = (instance["node"].as_str().unwrap(), instance["task"].as_str().unwrap());
        if before.get(node).is_some_and(|tasks| tasks.iter().any(|previous| previous == task)) {
            continue;
        }
        n_new += 1;
        assert!(reads_debug(task), "{instance}");
        let difference = &instance["differences"][0];
        assert!(difference["path"].as_str().unwrap().ends_with("debug"), "{instance}");
        assert_eq!((&difference["old"], &difference["new"]), (&json!("false"), &json!("true")), "{instance}");
    }
    assert!(n_new > 30, "{n_new}");
}
