//! Authorization of every operation in the OpenAPI document, for each role and for unauthenticated callers.

use axum::body::Body;
use serde_json::Value;
use stoker_model::{Permission, Role};

use crate::support::{TestServer, request};

struct Operation {
    method: String,
    path: String,
    permission: Permission,
}

/// Returns all operations; path parameters are filled with IDs that do not exist.
fn operations() -> Vec<Operation> {
    let document = serde_json::to_value(stoker_server::openapi_document()).unwrap();
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let name = operation["x-stoker-permission"].as_str();
            let permission = name.and_then(Permission::parse);
            operations.push(Operation {
                method: method.to_uppercase(),
                path: with_unknown_ids(path),
                permission: permission.unwrap_or_else(|| panic!("{method} {path} declares no permission")),
            });
        }
    }
    assert!(operations.len() > 30);
    operations
}

fn with_unknown_ids(path: &str) -> String {
    let segments =
        path.split('/').map(|segment| if segment.starts_with('{') { "999999999" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn unauthenticated_caller_reaches_only_public_operations() {
    let server = TestServer::new().await;
    for Operation { method, path, permission } in operations() {
        let reply = server.send(request(&method, &path).body(Body::empty()).unwrap()).await;
        if permission == Permission::Public {
            assert_ne!(reply.status, 403, "{method} {path}");
        } else {
            assert_eq!(reply.status, 401, "{method} {path}");
            assert!(!message(&reply.body).is_empty(), "{method} {path}");
        }
        let forged =
            request(&method, &path).header("x-auth-token", "stk_forged").body(Body::empty()).unwrap();
        let reply = server.send(forged).await;
        assert!(permission == Permission::Public || reply.status == 401, "{method} {path}");
    }
}

#[tokio::test]
async fn role_permissions_match_the_published_document() {
    let server = TestServer::new().await;
    for role in Role::ALL {
        let token = server.create_user(&format!("u-{role}"), &format!("t-{role}"), role.as_str()).await;
        for Operation { method, path, permission } in operations() {
            let reply = server.send_as(&token, &method, &path, &Value::Null).await;
            let is_refused = reply.status == 403 && message(&reply.body).contains("lacks the permission");
            assert_eq!(
                is_refused,
                !role.allows(permission),
                "{role}: {method} {path}: {} {}",
                reply.status,
                reply.body
            );
            assert!(permission == Permission::Public || reply.status != 401, "{role}: {method} {path}");
            assert!(reply.status < 500, "{role}: {method} {path}: {}", reply.body);
        }
    }
}

/// Returns the error message, from the envelope of this API or of the module API.
fn message(body: &Value) -> &str {
    let has_message = |body: &Value| body["message"].is_string();
    let inner = body.as_object().and_then(|map| map.values().find(|inner| has_message(inner)));
    let envelope = if has_message(body) { Some(body) } else { inner };
    envelope.and_then(|envelope| envelope["message"].as_str()).unwrap_or_default()
}

#[tokio::test]
async fn paths_accept_optional_prefix_and_trailing_slash() {
    let server = TestServer::new().await;
    for path in ["/api/v1/graphs", "/api/v1/graphs/", "/api/graphs/", "/graphs", "/graphs/?limit=1"] {
        let reply = server.get(path).await;
        assert_eq!((reply.status, reply.body), (200, serde_json::json!([])), "{path}");
    }
    assert_eq!(server.get("/nowhere").await.status, 404);
    let reply = server.delete("/api/v1/version").await;
    assert_eq!(reply.status, 405);
    assert_eq!(reply.header("allow"), "GET,HEAD");
    assert!(reply.body["message"].is_string());
}
