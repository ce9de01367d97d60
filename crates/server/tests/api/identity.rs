//! Authentication: Keystone v2 and v3, header and basic logins, rate limits, token revocation.

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
    let by_token = json!({"auth": {"tenantId": token["tenant"]["id"], "token": {"id": token["id"]}}});
    let second = server.post("/keystone/v2.0/tokens/", &by_token).await.expect(200);
    assert_eq!(
        second["access"]["token"]["id"], token["id"],
        "authenticating with a token does not extend it"
    );
    assert_eq!(second["access"]["token"]["expires"], token["expires"]);
    server.get("/keystone/v2.0/").await.expect(200);

    let elsewhere = json!({"auth": {"tenantName": "other",
        "passwordCredentials": {"username": "admin", "password": "secret"}}});
    let error = server.post("/keystone/v2.0/tokens", &elsewhere).await.expect(401);
    assert_eq!(error["error"]["code"], 401);
    assert_eq!(error["error"]["title"], "Unauthorized");
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
    server.send_as(&token, "GET", "users/me", &Value::Null).await.expect(200);
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
        let request = request("GET", "users/me").header("authorization", authorization);
        assert_eq!(
            server.send(request.body(Body::empty()).unwrap()).await.status,
            expected,
            "{authorization}"
        );
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
    // Logins of other users are not limited.
    server.post("/v3/auth/tokens", &password_v3("nobody", "guess")).await.expect(401);
}

#[tokio::test]
async fn revoked_token_is_refused_immediately() {
    let server = TestServer::new().await;
    let ada = server.create_user("ada", "blue", "viewer").await;
    let created = server.send_as(&ada, "POST", "tokens", &json!({"label": "script"})).await.expect(201);
    let script = created["token"].as_str().unwrap();
    server.send_as(script, "GET", "graphs", &Value::Null).await.expect(200);
    server.send_as(script, "GET", "graphs", &Value::Null).await.expect(200);
    let path = format!("tokens/{}", created["id"]);
    let grace = server.create_user("grace", "blue", "viewer").await;
    server.send_as(&grace, "DELETE", &path, &Value::Null).await.expect(404);
    server.send_as(&ada, "DELETE", &path, &Value::Null).await.expect(204);
    server.send_as(script, "GET", "graphs", &Value::Null).await.expect(401);
    let listed = server.send_as(&ada, "GET", "tokens", &Value::Null).await.expect(200);
    assert_eq!(listed.as_array().unwrap().len(), 1, "only the login token is left");
    assert!(listed[0].get("token").is_none());
    server.send_as(&ada, "GET", "tokens?user_id=1", &Value::Null).await.expect(403);
    server.get(&format!("tokens?user_id={}", listed[0]["user_id"])).await.expect(200);
}

#[tokio::test]
async fn password_or_role_change_revokes_tokens() {
    let server = TestServer::new().await;
    let ada = server.create_user("ada", "blue", "operator").await;
    let me = server.send_as(&ada, "GET", "users/me", &Value::Null).await.expect(200);
    assert_eq!((&me["name"], &me["tenant"]), (&json!("ada"), &json!("blue")));
    let wrong_password = json!({"old_password": "no", "password": "new"});
    server.send_as(&ada, "PUT", "users/me/password", &wrong_password).await.expect(403);
    let new_password = json!({"old_password": "pass", "password": "new"});
    server.send_as(&ada, "PUT", "users/me/password", &new_password).await.expect(204);
    server.send_as(&ada, "GET", "users/me", &Value::Null).await.expect(401);
    let ada = server.log_in("ada", "new").await;
    server.put(&format!("users/{}", me["id"]), &json!({"roles": ["viewer"]})).await.expect(200);
    server.send_as(&ada, "GET", "users/me", &Value::Null).await.expect(401);
    let ada = server.log_in("ada", "new").await;
    server.send_as(&ada, "POST", "graphs", &json!({})).await.expect(403);
    server.put(&format!("users/{}", me["id"]), &json!({"enabled": false})).await.expect(200);
    server.send_as(&ada, "GET", "users/me", &Value::Null).await.expect(401);
}

#[tokio::test]
async fn expired_token_is_refused() {
    let settings = stoker_settings::Server { token_seconds: -1, ..Default::default() };
    let server = TestServer::with_settings(settings).await;
    server.get("graphs").await.expect(401);
}

/// A bearer can revoke its own token, as Keystone clients do.
#[tokio::test]
async fn bearer_can_revoke_its_token() {
    let server = TestServer::new().await;
    let token = server.create_user("ada", "blue", "viewer").await;
    let revoke = async |bearer: &str, subject: Option<&str>| {
        let mut request = request("DELETE", "/v3/auth/tokens").header("x-auth-token", bearer);
        if let Some(subject) = subject {
            request = request.header("x-subject-token", subject);
        }
        server.send(request.body(axum::body::Body::empty()).unwrap()).await
    };
    assert_eq!(revoke(&token, None).await.status, 400);
    assert_eq!(revoke(&token, Some("stk_unknown")).await.status, 404);
    assert_eq!(server.send_as(&token, "GET", "/api/v1/users/me", &Value::Null).await.status, 200);
    assert_eq!(revoke(&token, Some(&token)).await.status, 204);
    assert_eq!(server.send_as(&token, "GET", "/api/v1/users/me", &Value::Null).await.status, 401);
    assert_eq!(revoke(&token, Some(&token)).await.status, 401);
    let audit = server.get("audit?limit=1&order_by=-id").await.expect(200);
    assert_eq!(audit[0]["action"], "token.delete");
}
