//! Input that an operation does not declare is refused: nothing runs or changes that was not asked for.

use axum::body::Body;
use serde_json::{Value, json};

use crate::runs::{Site, task};
use crate::support::TestServer;

/// Operations of the published document, with ids in the path that do not exist.
fn operations() -> Vec<(String, String, Value)> {
    let document = serde_json::to_value(stoker_server::openapi_document()).unwrap();
    let fill = |segment: &str| if segment.starts_with('{') { "1" } else { segment }.to_owned();
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let path = path.split('/').map(fill).collect::<Vec<_>>().join("/");
        for (method, operation) in item.as_object().unwrap() {
            operations.push((method.to_uppercase(), path.clone(), operation.clone()));
        }
    }
    assert!(operations.len() > 200);
    operations
}

#[tokio::test]
async fn every_operation_refuses_unknown_query_keys() {
    let server = TestServer::new().await;
    for (method, path, _) in operations() {
        let request = server.request(&method, &format!("{path}?dry-ran=1")).body(Body::empty()).unwrap();
        let reply = server.send(request).await;
        let name = format!("{method} {path}: {}", reply.body);
        assert_eq!(reply.status, 400, "{name}");
        assert!(reply.body.to_string().contains("unknown query parameter `dry-ran`"), "{name}");
    }
}

#[tokio::test]
async fn operations_without_body_refuse_content() {
    let server = TestServer::new().await;
    let mut n_operations = 0;
    for (method, path, operation) in operations() {
        if method == "GET" || operation.get("requestBody").is_some() {
            continue;
        }
        n_operations += 1;
        for body in [r#"{"type": "uc"}"#, "[1]", "type=uc", "{"] {
            let reply = server.send(server.request(&method, &path).body(Body::from(body)).unwrap()).await;
            assert_eq!(reply.status, 400, "{method} {path} with `{body}`: {}", reply.body);
        }
    }
    assert!(n_operations > 20);
}

#[tokio::test]
async fn unknown_keys_are_answered_with_a_suggestion() {
    let server = TestServer::new().await;
    let message = server.get("clusters/?relase_id=1").await.expect_error(400);
    assert!(message.contains("did you mean `release_id`?"), "{message}");
    let message = server.get("version/?x=1").await.expect_error(400);
    assert!(message.contains("takes no query parameters"), "{message}");
}

/// A site with two nodes and the graphs `default` and `uc`.
async fn site() -> Site {
    let site = Site::new(&json!([task("base", json!(["/.*/"]), "true", json!({}))])).await;
    site.upload("uc", &json!([task("update", json!(["/.*/"]), "true", json!({}))])).await;
    site
}

#[tokio::test]
async fn a_body_selects_graph_and_nodes_of_a_run() {
    let site = site().await;
    let path = format!("clusters/{}/deploy/", site.cluster);
    let body = json!({"type": "uc", "nodes": [site.nodes[1]]});
    let run = site.server.put(&path, &body).await.expect(202);
    site.wait_for_end(run["id"].as_i64().unwrap()).await;
    let rows = site.history(run["id"].as_i64().unwrap()).await;
    let ready: Vec<_> = rows.iter().filter(|(_, _, status)| status == "ready").collect();
    assert_eq!(ready, [&("update".to_owned(), site.nodes[1].to_string(), "ready".to_owned())]);
}

#[tokio::test]
async fn a_run_is_not_started_by_input_that_is_not_understood() {
    let site = site().await;
    let runs = async || site.server.get("transactions/").await.expect(200).as_array().unwrap().len();
    let n_before = runs().await;
    for operation in ["deploy", "changes", "changes/redeploy", "provision", "spawn_vms"] {
        let path = format!("clusters/{}/{operation}/", site.cluster);
        for body in [json!({"typ": "uc"}), json!([1]), json!("uc"), json!({"nodes": "all"})] {
            site.server.put(&path, &body).await.expect(400);
        }
        for query in ["typ=uc", "dry-run=1", "dryrun=1", "node=1"] {
            site.server.put(&format!("{path}?{query}"), &json!({})).await.expect(400);
        }
        let text = site.server.request("PUT", &path).body(Body::from("deploy please")).unwrap();
        site.server.send(text).await.expect(400);
    }
    for (query, body) in [
        ("graph_type=default", json!({"type": "uc"})),
        ("type=default&graph_type=uc", json!({})),
        ("nodes=1", json!({"nodes": [2]})),
        ("dry_run=1", json!({"dry_run": false})),
        ("force=0", json!({"force": true})),
        ("", json!({"type": "uc", "graph_type": "default"})),
    ] {
        let path = format!("clusters/{}/deploy/?{query}", site.cluster);
        let message = site.server.put(&path, &body).await.expect_error(400);
        assert!(message.contains("two different values"), "{message}");
    }
    assert_eq!(runs().await, n_before);
}
