//! Concurrency limits, rate limits and quotas.

use axum::body::Body;
use serde_json::{Value, json};
use stoker_model::Quotas;
use stoker_settings::{RequestLimits, Server};
use tower::ServiceExt as _;

use crate::beginnings::{create_cluster, create_cluster_of, create_node, create_release, id};
use crate::runs::{Site, task};
use crate::support::{TestServer, request};

fn with_limits(limits: RequestLimits) -> Server {
    Server { limits, ..Server::default() }
}

#[tokio::test]
async fn excess_requests_get_503_with_retry_after() {
    let server = TestServer::with_settings(with_limits(RequestLimits {
        max_concurrent_requests: 1,
        ..RequestLimits::default()
    }))
    .await;
    // Password hashing keeps the first request in flight.
    let slow = || {
        let request = request("GET", "users/me").header("authorization", "Basic YWRtaW46c2VjcmV0");
        server.send(request.body(Body::empty()).unwrap())
    };
    let (first, second, health) = tokio::join!(slow(), slow(), server.get("health"));
    first.expect(200);
    assert_eq!(second.header("retry-after"), "1");
    let message = second.expect_error(503);
    assert!(message.contains("try again"), "{message}");
    health.expect(200);
    slow().await.expect(200);
    let metrics = server.get("metrics").await.expect(200);
    assert!(
        metrics.as_str().unwrap().contains("stoker_http_requests_refused_total{limit=\"requests\"} 1"),
        "{metrics}"
    );
}

#[tokio::test]
async fn plan_creation_is_rate_limited_per_user() {
    let server = TestServer::with_settings(with_limits(RequestLimits {
        plans_per_minute: 2,
        ..RequestLimits::default()
    }))
    .await;
    let path = format!("clusters/{}/plans", create_cluster(&server).await);
    for _ in 0..2 {
        assert_ne!(server.post(&path, &json!({})).await.status, 429);
    }
    let limited = server.post(&path, &json!({})).await;
    let seconds: i64 = limited.header("retry-after").parse().unwrap();
    assert!((1..=31).contains(&seconds), "{seconds}");
    limited.expect_error(429);
    let other = server.create_user("ann", "admin", "operator").await;
    assert_ne!(server.send_as(&other, "POST", &path, &json!({})).await.status, 429);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_event_streams_are_limited() {
    let tasks = json!([task("slow", json!(["controller"]), "hang", json!({}))]);
    let site = Site::with_settings(
        &tasks,
        with_limits(RequestLimits { max_concurrent_streams: 1, ..RequestLimits::default() }),
    )
    .await;
    let run = id(&site.execute(json!({})).await.expect(202));
    site.wait_until_started().await;
    let service = stoker_server::service(&site.server.app);
    let watch = async || {
        let request = site.server.request("GET", &format!("runs/{run}/events"));
        let request = request.header("accept", "text/event-stream").body(Body::empty()).unwrap();
        service.clone().oneshot(request).await.unwrap()
    };
    let first = watch().await;
    assert_eq!(first.status(), 200);
    let second = watch().await;
    assert_eq!((second.status().as_u16(), &second.headers()["retry-after"]), (503, &"10".parse().unwrap()));
    // Closing a stream releases its slot.
    drop(first);
    for _ in 0..200 {
        if watch().await.status() == 200 {
            site.server.post(&format!("runs/{run}/stop"), &json!({"how": "now"})).await.expect(202);
            site.wait_for_end(run).await;
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    panic!("the stream slot was not released in time");
}

#[tokio::test]
async fn tenant_quotas_are_enforced() {
    let quotas = Quotas { clusters: Some(2), modules: Some(1), nodes: Some(1) };
    let server =
        TestServer::with_settings(with_limits(RequestLimits { quotas, ..RequestLimits::default() })).await;
    let release = create_release(&server).await;
    let first = create_cluster_of(&server, release, "one").await;
    create_cluster_of(&server, release, "two").await;
    let more = json!({"name": "three", "release": release});
    let message = server.post("clusters", &more).await.expect_error(409);
    assert_eq!(
        message,
        "quota exceeded: tenant `admin` may have 2 clusters; delete one, or ask an admin to raise the quota"
    );
    let path = "tenants/1/quotas";
    let quota_state = server.get(path).await.expect(200);
    assert_eq!(quota_state["clusters"], json!({"limit": 2, "is_own": false, "used": 2}));
    let changed = server.put(path, &json!({"clusters": 3})).await.expect(200);
    assert_eq!(changed["clusters"], json!({"limit": 3, "is_own": true, "used": 2}));
    assert_eq!(changed["nodes"], json!({"limit": 1, "is_own": false, "used": 0}));
    server.post("clusters", &more).await.expect(201);
    // Only nodes in a cluster count.
    let nodes = [create_node(&server, 1).await, create_node(&server, 2).await];
    let both: Vec<Value> = nodes.iter().map(|id| json!({"id": id, "roles": ["compute"]})).collect();
    let assignment = format!("clusters/{first}/assignment");
    server.post(&assignment, &json!(both)).await.expect_error(409);
    server.post(&assignment, &json!(both[..1])).await.expect(200);
    server.post(&assignment, &json!(both[1..])).await.expect_error(409);
    server.put(path, &json!({"nodes": 0})).await.expect(200);
    // Lowering a quota does not affect nodes that are assigned already.
    server.post(&assignment, &json!(both[..1])).await.expect(200);
    server.put(path, &json!({"nodes": null})).await.expect(200);
    let module =
        |name: &str| json!({"module": {"name": name, "module_type": "ping", "contents": "bWVzc2FnZT1oaQo="}});
    assert_eq!(server.post("/v1.0/1/modules", &module("a")).await.status, 200);
    let reply = server.post("/v1.0/1/modules", &module("b")).await;
    assert!(reply.expect_fault(413).contains("may have 1 modules"));
    for body in [json!({"clusters": -1}), json!({"clusters": "many"}), json!({"others": 1}), json!([])] {
        server.put(path, &body).await.expect_error(400);
    }
    server.get("tenants/99/quotas").await.expect_error(404);
    server.put("tenants/99/quotas", &json!({})).await.expect_error(404);
}

#[tokio::test]
async fn node_quota_applies_to_every_assignment_path() {
    let quotas = Quotas { nodes: Some(2), ..Quotas::default() };
    let server =
        TestServer::with_settings(with_limits(RequestLimits { quotas, ..RequestLimits::default() })).await;
    let release = create_release(&server).await;
    let cluster = create_cluster_of(&server, release, "one").await;
    let nodes = [create_node(&server, 1).await, create_node(&server, 2).await, create_node(&server, 3).await];
    let expected =
        "quota exceeded: tenant `admin` may have 2 nodes; delete one, or ask an admin to raise the quota";
    let joins =
        |ids: &[i64]| -> Value { ids.iter().map(|id| json!({"id": id, "cluster_id": cluster})).collect() };
    assert_eq!(server.put("nodes", &joins(&nodes)).await.expect_error(409), expected);
    server.put("nodes", &joins(&nodes[..2])).await.expect(200);
    let third = format!("nodes/{}", nodes[2]);
    let join = json!({"cluster_id": cluster});
    assert_eq!(server.put(&third, &join).await.expect_error(409), expected);
    assert_eq!(server.patch(&third, &join).await.expect_error(409), expected);
    let members = json!({"nodes": nodes});
    let path = format!("clusters/{cluster}");
    assert_eq!(server.put(&path, &members).await.expect_error(409), expected);
    let another = json!({"name": "two", "release": release, "nodes": [nodes[2]]});
    assert_eq!(server.post("clusters", &another).await.expect_error(409), expected);
    let assigned = json!([{"id": nodes[2], "roles": ["compute"]}]);
    assert_eq!(server.post(&format!("{path}/assignment"), &assigned).await.expect_error(409), expected);
    assert_eq!(server.get(&third).await.expect(200)["cluster"], Value::Null);
    // A tenant above its quota keeps its nodes and may update them.
    server.put("tenants/1/quotas", &json!({"nodes": 1})).await.expect(200);
    server.put("nodes", &joins(&nodes[..2])).await.expect(200);
    server.put(&path, &json!({"name": "renamed", "nodes": nodes[..2]})).await.expect(200);
    server.post("clusters", &json!({"name": "empty", "release": release})).await.expect(201);
    // Removing a node frees quota for another.
    server.put("tenants/1/quotas", &json!({"nodes": 2})).await.expect(200);
    server.put(&format!("nodes/{}", nodes[0]), &json!({"cluster_id": null})).await.expect(200);
    server.put(&third, &join).await.expect(200);
}

#[tokio::test]
async fn moving_a_cluster_checks_target_tenant_quotas() {
    let server = TestServer::with_settings(with_limits(RequestLimits::default())).await;
    let release = create_release(&server).await;
    let cluster = create_cluster_of(&server, release, "one").await;
    let node = create_node(&server, 1).await;
    let path = format!("clusters/{cluster}");
    server.put(&path, &json!({"nodes": [node]})).await.expect(200);
    let tenant = id(&server.post("tenants", &json!({"name": "other"})).await.expect(201));
    let quotas = format!("tenants/{tenant}/quotas");
    let moved = json!({"tenant": "other"});
    for narrow in [json!({"clusters": 0}), json!({"nodes": 0})] {
        server.put(&quotas, &narrow).await.expect(200);
        server.put(&path, &moved).await.expect_error(409);
        server.put(&quotas, &json!({"clusters": null, "nodes": null})).await.expect(200);
    }
    server.put(&path, &moved).await.expect(200);
}
