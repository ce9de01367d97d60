//! Logging in, in all the ways real clients do, and being let out again.

use axum::body::Body;
use serde_json::{Value, json};

use crate::support::{TestServer, request};

fn password_v3(name: &str, password: &str) -> Value {
    json!({"auth": {
        "identity": {"methods": ["password"], "password": {"user": {
            "name": name, "password": password, "domain": {"id": "default"}}}},
        "scope": {"project": {"name": "admin", "domain": {"id": "default"}}},
    }})
}

#[tokio::test]
async fn keystone_v2_login_supports_legacy_client() {
    let server = TestServer::new().await;
    let body = json!({"auth": {"tenantName": "admin",
        "passwordCredentials": {"username": "admin", "password": "secret"}}});
    let first = server.post("/keystone/v2.0/tokens", &body).await.expect(200);
    let token = &first["access"]["token"];
    assert_eq!(token["tenant"]["name"], "admin");
    assert_eq!(first["access"]["user"]["roles"], json!([{"name": "admin"}]));
    let again = json!({"auth": {"tenantId": token["tenant"]["id"], "token": {"id": token["id"]}}});
    let second = server.post("/keystone/v2.0/tokens/", &again).await.expect(200);
    assert_eq!(second["access"]["token"]["id"], token["id"], "it lives no longer for being shown");
    assert_eq!(second["access"]["token"]["expires"], token["expires"]);
    server.get("/keystone/v2.0/").await.expect(200);

    let elsewhere = json!({"auth": {"tenantName": "other",
        "passwordCredentials": {"username": "admin", "password": "secret"}}});
    let refused = server.post("/keystone/v2.0/tokens", &elsewhere).await.expect(401);
    assert_eq!(refused["error"]["code"], 401);
    assert_eq!(refused["error"]["title"], "Unauthorized");
    let malformed = server.post("/keystone/v2.0/tokens", &json!({"auth": {"user": 1}})).await.expect(400);
    assert!(malformed["error"]["message"].as_str().unwrap().contains("passwordCredentials"));
}

#[tokio::test]
async fn keystone_v3_header_and_basic_logins_work() {
    let server = TestServer::new().await;
    let reply = server.post("/v3/auth/tokens", &password_v3("admin", "secret")).await;
    let token = reply.header("x-subject-token").to_owned();
    assert!(token.starts_with("stk_"));
    let body = reply.expect(201);
    let endpoint = &body["token"]["catalog"][0]["endpoints"][0];
    assert_eq!(endpoint["interface"], "public");
    assert!(endpoint["url"].as_str().unwrap().ends_with("/v1.0/1"));
    server.as_bearer(&token, "GET", "users/me", &Value::Null).await.expect(200);
    let by_token = json!({"auth": {"identity": {"methods": ["token"], "token": {"id": token}}}});
    server.post("/v3/auth/tokens", &by_token).await.expect(201);
    server.get("/v3").await.expect(200);

    let headers = request("GET", "/v1.0/auth").header("x-auth-user", "admin").header("x-auth-key", "secret");
    let reply = server.send(headers.body(Body::empty()).unwrap()).await;
    assert_eq!(reply.status, 200);
    assert!(reply.header("x-auth-token").starts_with("stk_"));
    assert!(reply.header("x-server-management-url").ends_with("/v1.0/1"));

    for (authorization, expected) in [
        ("Basic YWRtaW46c2VjcmV0", 200),
        ("Basic YWRtaW46d3Jvbmc=", 401),
        ("Basic %%%", 401),
        ("Digest x", 401),
        ("Bearer nonsense", 401),
    ] {
        let sent = request("GET", "users/me").header("authorization", authorization);
        assert_eq!(server.send(sent.body(Body::empty()).unwrap()).await.status, expected, "{authorization}");
    }
}

#[tokio::test]
async fn failed_logins_are_rate_limited() {
    let server = TestServer::new().await;
    for _ in 0..12 {
        server.log_in("admin", "secret").await;
    }
    let mut statuses = Vec::new();
    for _ in 0..12 {
        statuses.push(server.post("/v3/auth/tokens", &password_v3("admin", "guess")).await.status);
    }
    assert_eq!(statuses[..10], [401; 10]);
    assert_eq!(statuses[10..], [429; 2]);
    let throttled = server.post("/v3/auth/tokens", &password_v3("admin", "secret")).await;
    assert!(throttled.header("retry-after").parse::<u32>().unwrap() >= 1);
    throttled.expect(429);
    // Others are not held up by it.
    server.post("/v3/auth/tokens", &password_v3("nobody", "guess")).await.expect(401);
}

#[tokio::test]
async fn revoked_token_is_refused_immediately() {
    let server = TestServer::new().await;
    let ada = server.user("ada", "blue", "viewer").await;
    let made = server.as_bearer(&ada, "POST", "tokens", &json!({"label": "script"})).await.expect(201);
    let script = made["token"].as_str().unwrap();
    server.as_bearer(script, "GET", "graphs", &Value::Null).await.expect(200);
    server.as_bearer(script, "GET", "graphs", &Value::Null).await.expect(200);
    let path = format!("tokens/{}", made["id"]);
    let grace = server.user("grace", "blue", "viewer").await;
    server.as_bearer(&grace, "DELETE", &path, &Value::Null).await.expect(404);
    server.as_bearer(&ada, "DELETE", &path, &Value::Null).await.expect(204);
    server.as_bearer(script, "GET", "graphs", &Value::Null).await.expect(401);
    let listed = server.as_bearer(&ada, "GET", "tokens", &Value::Null).await.expect(200);
    assert_eq!(listed.as_array().unwrap().len(), 1, "only the login is left");
    assert!(listed[0].get("token").is_none());
    server.as_bearer(&ada, "GET", "tokens?user_id=1", &Value::Null).await.expect(403);
    server.get(&format!("tokens?user_id={}", listed[0]["user_id"])).await.expect(200);
}

#[tokio::test]
async fn password_or_role_change_revokes_tokens() {
    let server = TestServer::new().await;
    let ada = server.user("ada", "blue", "operator").await;
    let me = server.as_bearer(&ada, "GET", "users/me", &Value::Null).await.expect(200);
    assert_eq!((&me["name"], &me["tenant"]), (&json!("ada"), &json!("blue")));
    let wrong = json!({"old_password": "no", "password": "new"});
    server.as_bearer(&ada, "PUT", "users/me/password", &wrong).await.expect(403);
    let right = json!({"old_password": "pass", "password": "new"});
    server.as_bearer(&ada, "PUT", "users/me/password", &right).await.expect(204);
    server.as_bearer(&ada, "GET", "users/me", &Value::Null).await.expect(401);
    let ada = server.log_in("ada", "new").await;
    server.put(&format!("users/{}", me["id"]), &json!({"roles": ["viewer"]})).await.expect(200);
    server.as_bearer(&ada, "GET", "users/me", &Value::Null).await.expect(401);
    let ada = server.log_in("ada", "new").await;
    server.as_bearer(&ada, "POST", "graphs", &json!({})).await.expect(403);
    server.put(&format!("users/{}", me["id"]), &json!({"enabled": false})).await.expect(200);
    server.as_bearer(&ada, "GET", "users/me", &Value::Null).await.expect(401);
}

#[tokio::test]
async fn expired_token_is_refused() {
    let settings = stoker_settings::Server { token_seconds: -1, ..Default::default() };
    let server = TestServer::with(settings).await;
    server.get("graphs").await.expect(401);
}

/// Whoever has a token can end it, as Keystone's clients do.
#[tokio::test]
async fn bearer_can_revoke_its_token() {
    let server = TestServer::new().await;
    let token = server.user("ada", "blue", "viewer").await;
    let end = async |bearer: &str, subject: Option<&str>| {
        let mut asked = request("DELETE", "/v3/auth/tokens").header("x-auth-token", bearer);
        if let Some(subject) = subject {
            asked = asked.header("x-subject-token", subject);
        }
        server.send(asked.body(axum::body::Body::empty()).unwrap()).await
    };
    assert_eq!(end(&token, None).await.status, 400);
    assert_eq!(end(&token, Some("stk_unknown")).await.status, 404);
    assert_eq!(server.as_bearer(&token, "GET", "/api/v1/users/me", &Value::Null).await.status, 200);
    assert_eq!(end(&token, Some(&token)).await.status, 204);
    assert_eq!(server.as_bearer(&token, "GET", "/api/v1/users/me", &Value::Null).await.status, 401);
    assert_eq!(end(&token, Some(&token)).await.status, 401);
    let audit = server.get("audit?limit=1&order_by=-id").await.expect(200);
    assert_eq!(audit[0]["action"], "token.delete");
}
