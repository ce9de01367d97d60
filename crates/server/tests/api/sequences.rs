//! `/sequences/`

use axum::body::Body;
use serde_json::{Value, json};

use crate::fixtures::cluster_with_roles;
use crate::support::TestServer;

async fn server_with_releases() -> TestServer {
    let server = TestServer::new().await;
    for version in ["a-1.0", "a-2.0"] {
        let release = json!({"name": "R", "version": version, "operating_system": "Ubuntu"});
        server.post("releases", &release).await.expect(201);
    }
    server
}

fn sequence() -> Value {
    json!({"release": 1, "name": "s", "graphs": [{"type": "a"}, {"type": "b", "nodes": [1], "tasks": ["t"]}]})
}

#[tokio::test]
async fn sequence_is_created_read_updated_and_deleted() {
    let server = server_with_releases().await;
    let created = server.post("sequences/", &sequence()).await.expect(201);
    let expected = json!({"id": 1, "name": "s", "release_id": 1, "graphs": sequence()["graphs"]});
    assert_eq!(created, expected);
    assert_eq!(server.get("sequences/1/").await.expect(200), expected);
    let changed = server.put("sequences/1/", &json!({"graphs": [{"type": "c"}]})).await.expect(200);
    assert_eq!((&changed["name"], &changed["graphs"]), (&json!("s"), &json!([{"type": "c"}])));
    let changed = server.patch("sequences/1/", &json!({"name": "t", "release": 1})).await.expect(200);
    assert_eq!(changed, json!({"id": 1, "name": "t", "release_id": 1, "graphs": [{"type": "c"}]}));
    // A GET response is a valid PUT body.
    assert_eq!(server.put("sequences/1/", &changed).await.expect(200), changed);
    let mut copy = changed.clone();
    copy["release"] = json!(2);
    assert_eq!(server.post("sequences/", &copy).await.expect(201)["release_id"], 2);
    let reply = server.delete("sequences/1/").await;
    assert_eq!((reply.status, reply.body), (204, Value::Null));
    for reply in [
        server.get("sequences/1/").await,
        server.put("sequences/1/", &json!({})).await,
        server.patch("sequences/1/", &json!({})).await,
        server.delete("sequences/1/").await,
        server.get("sequences/x").await,
    ] {
        assert_eq!(reply.expect_error(404), "DeploymentSequence not found");
    }
}

#[tokio::test]
async fn invalid_sequence_is_refused() {
    let server = server_with_releases().await;
    for (key, value) in [
        ("release", json!("1")),
        ("release", json!(0)),
        ("release", json!(null)),
        ("name", json!("")),
        ("name", json!(5)),
        ("graphs", json!([])),
        ("graphs", json!(null)),
        ("graphs", json!(["a"])),
        ("graphs", json!([{}])),
        ("graphs", json!([{"type": "a b"}])),
        ("graphs", json!([{"type": "a", "nodes": ["1"]}])),
        ("graphs", json!([{"type": "a", "nodes": [0]}])),
        ("graphs", json!([{"type": "a", "tasks": "t"}])),
        ("graphs", json!([{"type": "a", "node": [1]}])),
        ("other", json!(1)),
    ] {
        let mut body = sequence();
        body[key] = value;
        server.post("sequences/", &body).await.expect_error(400);
    }
    for key in ["release", "name", "graphs"] {
        let mut body = sequence();
        body.as_object_mut().unwrap().remove(key);
        let message = server.post("sequences/", &body).await.expect_error(400);
        assert!(message.contains(key), "{message}");
    }
    assert_eq!(server.get("sequences/").await.expect(200), json!([]));
    let mut body = sequence();
    body["release"] = json!(9);
    assert_eq!(server.post("sequences/", &body).await.expect_error(404), "Release not found");
    server.post("sequences/", &sequence()).await.expect(201);
    server.put("sequences/1", &json!({"graphs": []})).await.expect_error(400);
    server.put("sequences/1", &json!({"grahps": []})).await.expect_error(400);
    let message = server.put("sequences/1", &json!({"release": 2})).await.expect_error(400);
    assert!(message.contains("cannot change"), "{message}");
}

#[tokio::test]
async fn name_is_unique_within_a_release() {
    let server = server_with_releases().await;
    let expected = "Sequence with name \"s\" already exist for release 1.";
    server.post("sequences/", &sequence()).await.expect(201);
    assert_eq!(server.post("sequences/", &sequence()).await.expect_error(409), expected);
    let mut other = sequence();
    other["name"] = json!("t");
    let second = server.post("sequences/", &other).await.expect(201)["id"].clone();
    assert_eq!(
        server.put(&format!("sequences/{second}"), &json!({"name": "s"})).await.expect_error(409),
        expected
    );
    server.put("sequences/1", &json!({"name": "s"})).await.expect(200);
    other["release"] = json!(2);
    server.post("sequences/", &other).await.expect(201);
}

#[tokio::test]
async fn sequences_are_listed_by_release_or_by_cluster() {
    let server = server_with_releases().await;
    for release in [1, 2, 1] {
        let mut body = sequence();
        body["release"] = json!(release);
        body["name"] =
            json!(format!("s{}", server.get("sequences").await.expect(200).as_array().unwrap().len()));
        server.post("sequences/", &body).await.expect(201);
    }
    let cluster = cluster_with_roles(&server, 2, &[], &[]).await;
    for (query, expected) in [
        (String::new(), &[1, 2, 3][..]),
        ("?release=1".into(), &[1, 3]),
        ("?release=".into(), &[1, 2, 3]),
        (format!("?cluster={cluster}"), &[2]),
        (format!("?cluster={cluster}&release=2"), &[2]),
        ("?order_by=-id&limit=1".into(), &[3]),
    ] {
        let body = server.get(&format!("sequences/{query}")).await.expect(200);
        let ids: Vec<i64> =
            body.as_array().unwrap().iter().map(|item| item["id"].as_i64().unwrap()).collect();
        assert_eq!(ids, expected, "{query}");
    }
    assert_eq!(server.get("sequences/?release=9").await.expect_error(404), "Release not found");
    assert_eq!(server.get("sequences/?cluster=9").await.expect_error(404), "Cluster not found");
    server.get("sequences/?release=x").await.expect_error(400);
    server.get(&format!("sequences/?cluster={cluster}&release=1")).await.expect_error(400);
    server.get("sequences/?order_by=graphs").await.expect_error(400);
}

#[tokio::test]
async fn stale_etag_is_refused() {
    let server = server_with_releases().await;
    assert_eq!(server.post("sequences/", &sequence()).await.header("etag"), "\"1\"");
    server.put("sequences/1", &json!({"name": "t"})).await.expect(200);
    for (method, body) in [("PUT", "{\"name\": \"u\"}"), ("PATCH", "{}"), ("DELETE", "")] {
        let request = server.request(method, "sequences/1").header("if-match", "\"1\"");
        server.send(request.body(Body::from(body)).unwrap()).await.expect_error(412);
    }
    assert_eq!(server.get("sequences/1").await.expect(200)["name"], "t");
}
