//! What is too much is turned away, and says when to come back.

use axum::body::Body;
use serde_json::{Value, json};
use stoker_model::Quotas;
use stoker_settings::{Limits, Server};
use tower::ServiceExt as _;

use crate::beginnings::{cluster, cluster_of, id, node, release};
use crate::runs::{Site, task};
use crate::support::{TestServer, request};

fn settings(limits: Limits) -> Server {
    Server { limits, ..Server::default() }
}

#[tokio::test]
async fn excess_requests_get_503_with_retry_after() {
    let server = TestServer::with(settings(Limits { requests_at_once: 1, ..Limits::default() })).await;
    // A password takes a while to look at.
    let slow = || {
        let asked = request("GET", "users/me").header("authorization", "Basic YWRtaW46c2VjcmV0");
        server.send(asked.body(Body::empty()).unwrap())
    };
    let (first, second, health) = tokio::join!(slow(), slow(), server.get("health"));
    first.expect(200);
    assert_eq!(second.header("retry-after"), "1");
    let message = second.refused(503);
    assert!(message.contains("try again"), "{message}");
    health.expect(200);
    slow().await.expect(200);
    let numbers = server.get("metrics").await.expect(200);
    assert!(
        numbers.as_str().unwrap().contains("stoker_http_requests_refused_total{limit=\"requests\"} 1"),
        "{numbers}"
    );
}

#[tokio::test]
async fn plan_creation_is_rate_limited_per_user() {
    let server = TestServer::with(settings(Limits { plans_per_minute: 2, ..Limits::default() })).await;
    let path = format!("clusters/{}/plans", cluster(&server).await);
    for _ in 0..2 {
        assert_ne!(server.post(&path, &json!({})).await.status, 429);
    }
    let refused = server.post(&path, &json!({})).await;
    let seconds: i64 = refused.header("retry-after").parse().unwrap();
    assert!((1..=31).contains(&seconds), "{seconds}");
    refused.refused(429);
    let other = server.user("ann", "admin", "operator").await;
    assert_ne!(server.as_bearer(&other, "POST", &path, &json!({})).await.status, 429);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_event_streams_are_limited() {
    let tasks = json!([task("slow", json!(["controller"]), "hang", json!({}))]);
    let site = Site::with(&tasks, settings(Limits { streams_at_once: 1, ..Limits::default() })).await;
    let run = id(&site.execute(json!({})).await.expect(202));
    site.until_begun().await;
    let service = stoker_server::service(&site.server.app);
    let watch = async || {
        let asked = site.server.request("GET", &format!("runs/{run}/events"));
        let asked = asked.header("accept", "text/event-stream").body(Body::empty()).unwrap();
        service.clone().oneshot(asked).await.unwrap()
    };
    let first = watch().await;
    assert_eq!(first.status(), 200);
    let second = watch().await;
    assert_eq!((second.status().as_u16(), &second.headers()["retry-after"]), (503, &"10".parse().unwrap()));
    // Whoever leaves makes room.
    drop(first);
    for _ in 0..200 {
        if watch().await.status() == 200 {
            site.server.post(&format!("runs/{run}/stop"), &json!({"how": "now"})).await.expect(202);
            site.ended(run).await;
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    panic!("the place was not free again");
}

#[tokio::test]
async fn tenant_quotas_are_enforced() {
    let quotas = Quotas { clusters: Some(2), modules: Some(1), nodes: Some(1) };
    let server = TestServer::with(settings(Limits { quotas, ..Limits::default() })).await;
    let release = release(&server).await;
    let first = cluster_of(&server, release, "one").await;
    cluster_of(&server, release, "two").await;
    let more = json!({"name": "three", "release": release});
    let message = server.post("clusters", &more).await.refused(409);
    assert_eq!(
        message,
        "quota exceeded: tenant `admin` may have 2 clusters; delete one, or ask an admin to raise the quota"
    );
    let path = "tenants/1/quotas";
    let shown = server.get(path).await.expect(200);
    assert_eq!(shown["clusters"], json!({"limit": 2, "is_own": false, "used": 2}));
    let changed = server.put(path, &json!({"clusters": 3})).await.expect(200);
    assert_eq!(changed["clusters"], json!({"limit": 3, "is_own": true, "used": 2}));
    assert_eq!(changed["nodes"], json!({"limit": 1, "is_own": false, "used": 0}));
    server.post("clusters", &more).await.expect(201);
    // Nodes count where they are in a cluster.
    let nodes = [node(&server, 1).await, node(&server, 2).await];
    let both: Vec<Value> = nodes.iter().map(|id| json!({"id": id, "roles": ["compute"]})).collect();
    let assignment = format!("clusters/{first}/assignment");
    server.post(&assignment, &json!(both)).await.refused(409);
    server.post(&assignment, &json!(both[..1])).await.expect(200);
    server.post(&assignment, &json!(both[1..])).await.refused(409);
    server.put(path, &json!({"nodes": 0})).await.expect(200);
    // What it has it keeps, and may go on with.
    server.post(&assignment, &json!(both[..1])).await.expect(200);
    server.put(path, &json!({"nodes": null})).await.expect(200);
    let module =
        |name: &str| json!({"module": {"name": name, "module_type": "ping", "contents": "bWVzc2FnZT1oaQo="}});
    assert_eq!(server.post("/v1.0/1/modules", &module("a")).await.status, 200);
    let refused = server.post("/v1.0/1/modules", &module("b")).await;
    assert!(refused.fault(413).contains("may have 1 modules"));
    for wrong in [json!({"clusters": -1}), json!({"clusters": "many"}), json!({"others": 1}), json!([])] {
        server.put(path, &wrong).await.refused(400);
    }
    server.get("tenants/99/quotas").await.refused(404);
    server.put("tenants/99/quotas", &json!({})).await.refused(404);
}

#[tokio::test]
async fn node_quota_applies_to_every_assignment_path() {
    let quotas = Quotas { nodes: Some(2), ..Quotas::default() };
    let server = TestServer::with(settings(Limits { quotas, ..Limits::default() })).await;
    let release = release(&server).await;
    let cluster = cluster_of(&server, release, "one").await;
    let nodes = [node(&server, 1).await, node(&server, 2).await, node(&server, 3).await];
    let refused =
        "quota exceeded: tenant `admin` may have 2 nodes; delete one, or ask an admin to raise the quota";
    let joins =
        |ids: &[i64]| -> Value { ids.iter().map(|id| json!({"id": id, "cluster_id": cluster})).collect() };
    assert_eq!(server.put("nodes", &joins(&nodes)).await.refused(409), refused);
    server.put("nodes", &joins(&nodes[..2])).await.expect(200);
    let third = format!("nodes/{}", nodes[2]);
    let join = json!({"cluster_id": cluster});
    assert_eq!(server.put(&third, &join).await.refused(409), refused);
    assert_eq!(server.patch(&third, &join).await.refused(409), refused);
    let members = json!({"nodes": nodes});
    let path = format!("clusters/{cluster}");
    assert_eq!(server.put(&path, &members).await.refused(409), refused);
    let another = json!({"name": "two", "release": release, "nodes": [nodes[2]]});
    assert_eq!(server.post("clusters", &another).await.refused(409), refused);
    let assigned = json!([{"id": nodes[2], "roles": ["compute"]}]);
    assert_eq!(server.post(&format!("{path}/assignment"), &assigned).await.refused(409), refused);
    assert_eq!(server.get(&third).await.expect(200)["cluster"], Value::Null);
    // Whoever has more than is allowed by now keeps it, and may change it.
    server.put("tenants/1/quotas", &json!({"nodes": 1})).await.expect(200);
    server.put("nodes", &joins(&nodes[..2])).await.expect(200);
    server.put(&path, &json!({"name": "renamed", "nodes": nodes[..2]})).await.expect(200);
    server.post("clusters", &json!({"name": "empty", "release": release})).await.expect(201);
    // One that leaves makes room for another.
    server.put("tenants/1/quotas", &json!({"nodes": 2})).await.expect(200);
    server.put(&format!("nodes/{}", nodes[0]), &json!({"cluster_id": null})).await.expect(200);
    server.put(&third, &join).await.expect(200);
}

#[tokio::test]
async fn moving_a_cluster_checks_target_tenant_quotas() {
    let server = TestServer::with(settings(Limits::default())).await;
    let release = release(&server).await;
    let cluster = cluster_of(&server, release, "one").await;
    let node = node(&server, 1).await;
    let path = format!("clusters/{cluster}");
    server.put(&path, &json!({"nodes": [node]})).await.expect(200);
    let tenant = id(&server.post("tenants", &json!({"name": "other"})).await.expect(201));
    let quotas = format!("tenants/{tenant}/quotas");
    let moved = json!({"tenant": "other"});
    for narrow in [json!({"clusters": 0}), json!({"nodes": 0})] {
        server.put(&quotas, &narrow).await.expect(200);
        server.put(&path, &moved).await.refused(409);
        server.put(&quotas, &json!({"clusters": null, "nodes": null})).await.expect(200);
    }
    server.put(&path, &moved).await.expect(200);
}
