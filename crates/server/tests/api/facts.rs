use serde_json::json;

use crate::beginnings::{cluster, cluster_of, node, with_header};
use crate::support::TestServer;

/// A cluster with two nodes; the third is free.
async fn prepared() -> (TestServer, String) {
    let server = TestServer::new().await;
    let cluster_id = cluster(&server).await;
    for number in 1..=3 {
        node(&server, number).await;
    }
    let body = json!([{"id": 1, "roles": ["controller"]}, {"id": 2, "roles": ["compute"]}]);
    server.post(&format!("clusters/{cluster_id}/assignment"), &body).await.expect(200);
    (server, format!("clusters/{cluster_id}/orchestrator"))
}

#[tokio::test]
async fn facts_are_computed_unless_supplied() {
    let (server, path) = prepared().await;
    let path = format!("{path}/deployment/");
    let whole = server.get(&path).await.expect(200);
    assert_eq!(whole.as_array().unwrap().len(), 2);
    let first = &whole[0];
    assert_eq!(
        (&first["uid"], &first["fqdn"], &first["roles"]),
        (&json!("1"), &json!("node-1"), &json!(["controller"]))
    );
    assert_eq!(first["cluster"]["name"], "demo");
    assert_eq!(first["release"]["version"], "mitaka-9.0");
    let split = server.get(&format!("{path}?split=1")).await.expect(200);
    assert_eq!(split.as_array().unwrap().len(), 3);
    assert_eq!((&split[0]["uid"], &split[0]["cluster"]["id"]), (&json!("common"), &json!(1)));
    assert_eq!(split[2]["uid"], "2");
    assert!(split[2].get("cluster").is_none());
    let one = server.get(&format!("{path}?nodes=2")).await.expect(200);
    assert_eq!((one.as_array().unwrap().len(), &one[0]["uid"]), (1, &json!("2")));
    assert_eq!(server.get(&format!("{path}defaults/?nodes=2")).await.expect(200), one);
}

#[tokio::test]
async fn facts_require_nodes_of_the_cluster() {
    let (server, path) = prepared().await;
    for kind in ["deployment", "provisioning", "deployment/defaults", "provisioning/defaults"] {
        let path = format!("{path}/{kind}");
        assert_eq!(server.get(&format!("{path}?nodes=9")).await.refused(404), "NodeCollection not found");
        assert_eq!(
            server.get(&format!("{path}?nodes=1,3")).await.refused(400),
            "Nodes 3 do not belong to cluster 1"
        );
        server.get(&format!("{path}?nodes=x")).await.refused(400);
        server.get(&format!("{path}?split=x")).await.refused(400);
        server.get(&path.replace("clusters/1", "clusters/9")).await.refused(404);
    }
}

#[tokio::test]
async fn supplied_facts_apply_until_deleted() {
    let (server, path) = prepared().await;
    let path = format!("{path}/deployment");
    let body = json!([{"uid": "1", "mine": true}]);
    assert_eq!(server.put(&path, &body).await.expect(200), body);
    assert_eq!(server.get("clusters/1").await.expect(200)["is_customized"], true);
    let shown = server.get(&path).await.expect(200);
    assert_eq!(shown[0], body[0]);
    assert_eq!(shown[1]["uid"], "2");
    assert_eq!(server.get(&format!("{path}/defaults")).await.expect(200)[0]["roles"], json!(["controller"]));
    // With a common part supplied, documents are parts.
    let parts = json!([{"uid": "common", "cluster": {"x": 1}}, {"uid": 2, "cluster": {"y": 2}}]);
    let stored = server.put(&path, &parts).await.expect(200);
    assert_eq!(stored[1]["uid"], "2");
    let shown = server.get(&format!("{path}?nodes=2")).await.expect(200);
    assert_eq!(shown, json!([{"uid": "2", "cluster": {"x": 1, "y": 2}}]));
    assert_eq!(server.delete(&path).await.expect(202), json!({}));
    assert_eq!(server.get("clusters/1").await.expect(200)["is_customized"], false);
    assert_eq!(server.get(&path).await.expect(200)[0]["roles"], json!(["controller"]));
    assert_eq!(server.delete(&path).await.expect(202), json!({}));
}

#[tokio::test]
async fn invalid_facts_are_refused() {
    let (server, path) = prepared().await;
    let path = format!("{path}/deployment");
    for (body, message) in [
        (json!({}), "must be a list"),
        (json!([{"x": 1}]), "`uid` is missing"),
        (json!([{"uid": null}]), "must be the id of a node"),
        (json!([{"uid": "1"}, {"uid": "3"}, {"uid": "x"}]), "Nodes 3, x do not belong to cluster 1"),
        (json!([{"uid": "1"}, {"uid": 1}]), "duplicate document with the uid `1`"),
        (json!([{"uid": "engine"}]), "Nodes engine do not belong to cluster 1"),
        (json!([1]), "must be a map"),
    ] {
        let found = server.put(&path, &body).await.refused(400);
        assert!(found.contains(message), "{body}: {found}");
    }
    assert_eq!(server.get("clusters/1").await.expect(200)["is_customized"], false);
    let tag = server.get(&path).await.header("etag").to_owned();
    let body = r#"[{"uid": "1"}]"#;
    with_header(&server, ("PUT", &path), ("if-match", &tag), body).await.expect(200);
    with_header(&server, ("PUT", &path), ("if-match", &tag), body).await.refused(412);
    with_header(&server, ("DELETE", &path), ("if-match", &tag), "").await.refused(412);
}

#[tokio::test]
async fn provisioning_facts_include_engine() {
    let (server, path) = prepared().await;
    let path = format!("{path}/provisioning/");
    let computed = server.get(&path).await.expect(200);
    assert_eq!(computed["engine"], json!({}));
    assert_eq!(computed["nodes"][0]["mac"], "52:54:00:00:00:01");
    let body = json!({"engine": {"url": "http://x"}, "nodes": [{"uid": "2", "profile": "p"}]});
    assert_eq!(server.put(&path, &body).await.expect(200), body);
    let shown = server.get(&path).await.expect(200);
    assert_eq!((&shown["engine"], &shown["nodes"][1]), (&body["engine"], &body["nodes"][0]));
    assert_eq!(server.get(&format!("{path}defaults")).await.expect(200), computed);
    for wrong in [
        json!([]),
        json!({"engine": 1, "nodes": []}),
        json!({"engine": {}}),
        json!({"nodes": [{"uid": "common"}]}),
    ] {
        server.put(&path, &wrong).await.refused(400);
    }
    // Facts of the other kind are left alone.
    server.put("clusters/1/orchestrator/deployment", &json!([{"uid": "1", "a": 1}])).await.expect(200);
    server.delete(&path).await.expect(202);
    assert_eq!(server.get("clusters/1").await.expect(200)["is_customized"], true);
    cluster_of(&server, 1, "empty").await;
    let empty = server.get("clusters/2/orchestrator/provisioning").await.expect(200);
    assert_eq!(empty, json!({"engine": {}, "nodes": []}));
}
