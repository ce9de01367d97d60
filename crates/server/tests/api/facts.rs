use serde_json::json;

use crate::beginnings::{create_cluster, create_cluster_of, create_node, send_with_header};
use crate::support::TestServer;

/// Creates a cluster with nodes 1 and 2; node 3 is unassigned. Returns the path of its facts.
async fn prepared_cluster() -> (TestServer, String) {
    let server = TestServer::new().await;
    let cluster_id = create_cluster(&server).await;
    for number in 1..=3 {
        create_node(&server, number).await;
    }
    let body = json!([{"id": 1, "roles": ["controller"]}, {"id": 2, "roles": ["compute"]}]);
    server.post(&format!("clusters/{cluster_id}/assignment"), &body).await.expect(200);
    (server, format!("clusters/{cluster_id}/orchestrator"))
}

#[tokio::test]
async fn facts_are_computed_unless_supplied() {
    let (server, path) = prepared_cluster().await;
    let path = format!("{path}/deployment/");
    let documents = server.get(&path).await.expect(200);
    assert_eq!(documents.as_array().unwrap().len(), 2);
    let first = &documents[0];
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
    let (server, path) = prepared_cluster().await;
    for resource in ["deployment", "provisioning", "deployment/defaults", "provisioning/defaults"] {
        let path = format!("{path}/{resource}");
        assert_eq!(
            server.get(&format!("{path}?nodes=9")).await.expect_error(404),
            "NodeCollection not found"
        );
        assert_eq!(
            server.get(&format!("{path}?nodes=1,3")).await.expect_error(400),
            "Nodes 3 do not belong to cluster 1"
        );
        server.get(&format!("{path}?nodes=x")).await.expect_error(400);
        server.get(&format!("{path}?split=x")).await.expect_error(400);
        server.get(&path.replace("clusters/1", "clusters/9")).await.expect_error(404);
    }
}

#[tokio::test]
async fn supplied_facts_apply_until_deleted() {
    let (server, path) = prepared_cluster().await;
    let path = format!("{path}/deployment");
    let body = json!([{"uid": "1", "mine": true}]);
    assert_eq!(server.put(&path, &body).await.expect(200), body);
    assert_eq!(server.get("clusters/1").await.expect(200)["is_customized"], true);
    let facts = server.get(&path).await.expect(200);
    assert_eq!(facts[0], body[0]);
    assert_eq!(facts[1]["uid"], "2");
    assert_eq!(server.get(&format!("{path}/defaults")).await.expect(200)[0]["roles"], json!(["controller"]));
    // A supplied `common` document is merged into the node documents.
    let parts = json!([{"uid": "common", "cluster": {"x": 1}}, {"uid": 2, "cluster": {"y": 2}}]);
    let stored = server.put(&path, &parts).await.expect(200);
    assert_eq!(stored[1]["uid"], "2");
    let facts = server.get(&format!("{path}?nodes=2")).await.expect(200);
    assert_eq!(facts, json!([{"uid": "2", "cluster": {"x": 1, "y": 2}}]));
    assert_eq!(server.delete(&path).await.expect(202), json!({}));
    assert_eq!(server.get("clusters/1").await.expect(200)["is_customized"], false);
    assert_eq!(server.get(&path).await.expect(200)[0]["roles"], json!(["controller"]));
    assert_eq!(server.delete(&path).await.expect(202), json!({}));
}

#[tokio::test]
async fn invalid_facts_are_refused() {
    let (server, path) = prepared_cluster().await;
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
        let error = server.put(&path, &body).await.expect_error(400);
        assert!(error.contains(message), "{body}: {error}");
    }
    assert_eq!(server.get("clusters/1").await.expect(200)["is_customized"], false);
    let tag = server.get(&path).await.header("etag").to_owned();
    let body = r#"[{"uid": "1"}]"#;
    send_with_header(&server, ("PUT", &path), ("if-match", &tag), body).await.expect(200);
    send_with_header(&server, ("PUT", &path), ("if-match", &tag), body).await.expect_error(412);
    send_with_header(&server, ("DELETE", &path), ("if-match", &tag), "").await.expect_error(412);
}

#[tokio::test]
async fn provisioning_facts_include_engine() {
    let (server, path) = prepared_cluster().await;
    let path = format!("{path}/provisioning/");
    let computed = server.get(&path).await.expect(200);
    assert_eq!(computed["engine"], json!({}));
    assert_eq!(computed["nodes"][0]["mac"], "52:54:00:00:00:01");
    let body = json!({"engine": {"url": "http://x"}, "nodes": [{"uid": "2", "profile": "p"}]});
    assert_eq!(server.put(&path, &body).await.expect(200), body);
    let facts = server.get(&path).await.expect(200);
    assert_eq!((&facts["engine"], &facts["nodes"][1]), (&body["engine"], &body["nodes"][0]));
    assert_eq!(server.get(&format!("{path}defaults")).await.expect(200), computed);
    for body in [
        json!([]),
        json!({"engine": 1, "nodes": []}),
        json!({"engine": {}}),
        json!({"nodes": [{"uid": "common"}]}),
    ] {
        server.put(&path, &body).await.expect_error(400);
    }
    // Deployment facts are kept when provisioning facts are deleted.
    server.put("clusters/1/orchestrator/deployment", &json!([{"uid": "1", "a": 1}])).await.expect(200);
    server.delete(&path).await.expect(202);
    assert_eq!(server.get("clusters/1").await.expect(200)["is_customized"], true);
    create_cluster_of(&server, 1, "empty").await;
    let empty = server.get("clusters/2/orchestrator/provisioning").await.expect(200);
    assert_eq!(empty, json!({"engine": {}, "nodes": []}));
}
