//! Tests of fields that no other test observes.

use std::collections::BTreeSet;

use serde_json::json;
use stoker_model::{RunName, RunStatus};

use super::published;
use crate::beginnings::{create_child_run, create_cluster, create_node, create_run, id};
use crate::runs::{Site, task};
use crate::support::TestServer;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn debug_reaches_the_agents() {
    let site = Site::new(&json!([task("base", json!(["/.*/"]), "true", json!({}))])).await;
    site.deploy(json!({})).await;
    assert_eq!(site.attempts.n_debug(), 0);
    site.deploy(json!({"debug": true})).await;
    assert_eq!(site.attempts.n_debug(), 2);
    let path = format!("clusters/{}/deploy/?debug=1", site.cluster);
    let run = site.server.put(&path, &json!({})).await.expect(202);
    site.wait_for_end(id(&run)).await;
    assert_eq!(site.attempts.n_debug(), 4);
}

#[tokio::test]
async fn whole_runs_have_no_parent() {
    let server = TestServer::new().await;
    let parent = create_run(&server, None, RunName::Deploy, RunStatus::Ready).await;
    create_child_run(&server, None, RunName::Deployment, RunStatus::Ready, Some(&parent)).await;
    let ids = async |query: &str| {
        let runs = server.get(&format!("transactions/{query}")).await.expect(200);
        runs.as_array().unwrap().iter().map(id).collect::<Vec<_>>()
    };
    assert_eq!(ids("").await.len(), 2);
    assert_eq!(ids("?whole=1").await, [parent.id.0]);
}

#[tokio::test]
async fn every_writable_field_of_clusters_and_nodes_is_shown() {
    let server = TestServer::new().await;
    create_cluster(&server).await;
    create_node(&server, 1).await;
    server.create_user("ada", "blue", "member").await;
    let document = serde_json::to_value(stoker_server::openapi_document()).unwrap();
    let cluster = json!({
        "name": "other", "mode": "multinode", "nodes": [1], "components": [], "ui_settings": {"sort": 1}, "tenant": "blue",
        "merge_order": "release,plugins,cluster", "merge_mode": "replace", "release_id": 1, "release": 1,
    });
    let node = json!({
        "name": "db", "hostname": "db-1", "labels": {"rack": "a1"}, "status": "ready", "online": false, "roles": ["compute"],
        "pending_roles": ["ceph-osd"], "pending_addition": false, "pending_deletion": true, "cluster_id": 1, "meta": {"numa": 1},
        "mac": "52:54:00:00:00:09", "ip": "10.0.0.9", "error_type": "deploy", "error_msg": "no", "progress": 50,
        "group_id": 2, "manufacturer": "M", "platform_name": "P", "os_platform": "O", "kernel_params": "quiet",
    });
    for (path, schema, values) in [("clusters/1", "ClusterBody", cluster), ("nodes/1", "NodeBody", node)] {
        let fields: BTreeSet<String> = values.as_object().unwrap().keys().cloned().collect();
        assert_eq!(fields, published(schema, &document), "{path}");
        // The hostname cannot be changed after provisioning, and roles need a cluster.
        let mut order: Vec<&String> = fields.iter().collect();
        order.sort_by_key(|field| match field.as_str() {
            "hostname" | "cluster_id" => 0,
            "status" => 2,
            _ => 1,
        });
        for field in order {
            server.put(path, &json!({field: values[field]})).await.expect(200);
            let shown = server.get(path).await.expect(200);
            match field.as_str() {
                "nodes" => assert_eq!(server.get("nodes/1").await.expect(200)["cluster"], 1),
                "cluster_id" => assert_eq!(shown["cluster"], values[field]),
                "release" => assert_eq!(shown["release_id"], values[field]),
                _ => assert_eq!(shown[field], values[field], "{path}: {field}"),
            }
        }
    }
}

#[tokio::test]
async fn tokens_expire_as_requested() {
    let server = TestServer::new().await;
    let statuses = async |expires_in: i64| {
        let body = json!({"label": "t", "expires_in": expires_in});
        let token = server.post("tokens", &body).await.expect(201)["token"].as_str().unwrap().to_owned();
        tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
        server.send_as(&token, "GET", "/api/v1/users/me", &json!(null)).await.status
    };
    assert_eq!((statuses(1).await, statuses(60).await), (401, 200));
}

#[tokio::test]
async fn join_tokens_show_their_label() {
    let server = TestServer::new().await;
    server.post("join_tokens", &json!({"label": "rack 7"})).await.expect(201);
    let tokens = server.get("join_tokens").await.expect(200);
    assert_eq!(tokens[0]["label"], "rack 7", "{tokens}");
}
