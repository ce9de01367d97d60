//! Malformed input is refused with a message and stores nothing.

use std::fmt::Write as _;

use axum::body::Body;
use serde_json::{Value, json};

use crate::support::{Reply, TestServer};

async fn post_tenant(server: &TestServer, content_type: &str, body: impl Into<Body>) -> Reply {
    let request =
        server.request("POST", "tenants").header("content-type", content_type).body(body.into()).unwrap();
    server.send(request).await
}

#[tokio::test]
async fn malformed_bodies_are_refused() {
    let server = TestServer::new().await;
    let deep_json = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let deep_yaml = "- ".repeat(10_000);
    let bomb = alias_bomb();
    for (content_type, body) in [
        ("application/json", ""),
        ("application/json", "   "),
        ("application/json", "{"),
        ("application/json", "{\"name\": \"a\",}"),
        ("application/json", "{\"name\": \"a\", \"name\": \"b\"}"),
        ("application/json", "{\"name\": NaN}"),
        ("application/json", "[1, 2]"),
        ("application/json", "null"),
        ("application/json", "\"\\ud800\""),
        ("application/json", &deep_json),
        ("application/x-yaml", "a: b: c"),
        ("application/x-yaml", "name: a\nname: b"),
        ("application/x-yaml", "name: !!python/object:os.system x"),
        ("application/x-yaml", "name: a\n---\nname: b"),
        ("application/x-yaml", &deep_yaml),
        ("application/x-yaml", &bomb),
    ] {
        let reply = post_tenant(&server, content_type, body.to_owned()).await;
        let excerpt: String = body.chars().take(40).collect();
        assert_eq!(reply.status, 400, "{excerpt}: {}", reply.body);
        assert!(!reply.body["message"].as_str().unwrap().is_empty(), "{excerpt}");
        assert!(reply.body["errors"].is_array(), "{excerpt}");
    }
    let latin: &[u8] = b"{\"name\": \"\xe9\"}";
    post_tenant(&server, "application/json", latin.to_vec()).await.expect_error(400);
    let tenants = server.get("tenants").await.expect(200);
    assert_eq!(tenants.as_array().unwrap().len(), 1, "nothing is stored");
}

/// Returns nested YAML aliases: nine levels of nine aliases each.
fn alias_bomb() -> String {
    let mut text = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
    for level in 1..10 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(",");
        _ = writeln!(text, "a{level}: &a{level} [{aliases}]");
    }
    text
}

#[tokio::test]
async fn oversized_body_is_refused() {
    let server = TestServer::new().await;
    let large = vec![b' '; 100 << 20];
    let reply = post_tenant(&server, "application/json", large).await;
    assert_eq!(reply.expect_error(413), "the body is larger than 16777216 bytes");
    // A chunked request has no `Content-Length`.
    let chunks = chunked_body(20 << 20);
    post_tenant(&server, "application/json", chunks).await.expect_error(413);
}

/// Returns a streamed body of blanks in chunks of 64 KiB, without a known length.
fn chunked_body(n_bytes: usize) -> Body {
    let pieces = (0..n_bytes >> 16).map(|_| Ok::<_, std::io::Error>(vec![b' '; 1 << 16]));
    Body::from_stream(tokio_stream::iter(pieces))
}

#[tokio::test]
async fn yaml_is_accepted_and_returned() {
    let server = TestServer::new().await;
    post_tenant(&server, "application/x-yaml", "name: blue\ndescription: |\n  two\n  lines\n")
        .await
        .expect(201);
    post_tenant(&server, "text/yaml; charset=utf-8", "{name: green}").await.expect(201);
    post_tenant(&server, "application/x-www-form-urlencoded", "name: red").await.expect(201);
    let get = |accept: &str| {
        server.request("GET", "tenants/2").header("accept", accept).body(Body::empty()).unwrap()
    };
    let yaml = server.send(get("application/x-yaml")).await;
    assert_eq!(yaml.header("content-type"), "application/x-yaml");
    let text = yaml.expect(200);
    assert!(text.as_str().unwrap().contains("description: |\n  two\n  lines\n"), "{text}");
    server.send(get("*/*")).await.expect(200);
    server.send(get("application/json, text/plain")).await.expect(200);
    let message = server.send(get("image/png")).await.expect_error(415);
    assert_eq!(
        message,
        "unsupported media type `image/png` in `Accept`; supported: application/json, application/x-yaml"
    );
    let request =
        server.request("DELETE", "tenants/2").header("accept", "image/png").body(Body::empty()).unwrap();
    server.send(request).await.expect_error(415);
    server.get("tenants/2").await.expect(200);
}

#[tokio::test]
async fn errors_honor_the_accept_header() {
    let server = TestServer::new().await;
    let request = server.request("GET", "tenants/99").header("accept", "application/x-yaml");
    let reply = server.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(reply.expect(404), Value::from("message: Tenant not found\nerrors: []\n"));
}

#[tokio::test]
async fn invalid_ids_are_not_found() {
    let server = TestServer::new().await;
    for id in ["0", "-1", "abc", "99999999999999999999", "1.5", "%00", "%ff", "a%2Fb", "9223372036854775807"]
    {
        let reply = server.get(&format!("tenants/{id}")).await;
        assert!(reply.status == 404 || reply.status == 400, "{id}: {}", reply.body);
        assert!(reply.body["message"].is_string(), "{id}");
    }
}

#[tokio::test]
async fn method_override_header_is_supported() {
    let server = TestServer::new().await;
    let request = server.request("POST", "tenants/1").header("x-http-method-override", "PUT");
    let body = Body::from(json!({"description": "first"}).to_string());
    assert_eq!(server.send(request.body(body).unwrap()).await.expect(200)["description"], "first");
}

#[tokio::test]
async fn yaml_alias_expansion_is_bounded_by_size() {
    let server = TestServer::new().await;
    let bomb = format!("x: &x \"{}\"\ny: [{}]\n", "a".repeat(300_000), vec!["*x"; 2000].join(","));
    let reply = post_tenant(&server, "application/x-yaml", bomb.clone()).await.expect(400);
    assert!(reply["message"].as_str().unwrap().contains("exceeds 1000000 nodes"), "{reply}");
    // Login requests have a lower size limit.
    let login =
        crate::support::request("POST", "/v3/auth/tokens").header("content-type", "application/x-yaml");
    let reply = server.send(login.body(Body::from(bomb)).unwrap()).await;
    assert_eq!(reply.status, 413);
}
