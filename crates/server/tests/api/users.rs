//! Users, tenants and the audit log.

use axum::body::Body;
use serde_json::{Value, json};

use crate::support::TestServer;

#[tokio::test]
async fn tenant_is_created_updated_and_deleted() {
    let server = TestServer::new().await;
    let blue = server.post("tenants/", &json!({"name": "blue"})).await.expect(201);
    let path = format!("tenants/{}", blue["id"]);
    assert_eq!(server.get(&path).await.expect(200), blue);
    server.post("tenants", &json!({"name": "blue"})).await.expect_error(409);
    let changed = server.put(&path, &json!({"description": "sky"})).await.expect(200);
    assert_eq!((&changed["name"], &changed["description"]), (&json!("blue"), &json!("sky")));
    let cleared = server.put(&path, &json!({"description": null})).await.expect(200);
    assert_eq!(cleared["description"], Value::Null);
    server.put(&path, &json!({"name": "admin"})).await.expect_error(409);
    server.create_user("ada", "blue", "member").await;
    assert_eq!(server.delete(&path).await.expect_error(409), "tenant `blue` still has a user");
    server.put(&path, &json!({"enabled": false})).await.expect(200);
    let body = json!({"auth": {"passwordCredentials": {"username": "ada", "password": "pass"}}});
    server.post("/keystone/v2.0/tokens", &body).await.expect(401);
    let users = server.get("users").await.expect(200);
    let ada = users.as_array().unwrap().iter().find(|user| user["name"] == "ada").unwrap();
    server.delete(&format!("users/{}", ada["id"])).await.expect(204);
    server.delete(&path).await.expect(204);
    assert_eq!(server.get(&path).await.expect_error(404), "Tenant not found");
}

#[tokio::test]
async fn user_tenant_is_given_by_name_or_id() {
    let server = TestServer::new().await;
    let blue = server.post("tenants", &json!({"name": "blue"})).await.expect(201)["id"].clone();
    let by_name = json!({"name": "a", "password": "p", "tenant": "blue", "roles": ["member"]});
    let created = server.post("users/", &by_name).await.expect(201);
    assert_eq!((&created["tenant"], &created["tenant_id"]), (&json!("blue"), &blue));
    assert!(created.get("password").is_none());
    let as_text = json!({"name": "t", "password": "p", "tenant": blue.to_string(), "roles": ["member"]});
    assert_eq!(server.post("users/", &as_text).await.expect(201)["tenant_id"], blue);
    let by_id = json!({"name": "b", "password": "p", "tenant": blue, "roles": ["member", "viewer"]});
    server.post("users", &by_id).await.expect(201);
    assert_eq!(server.post("users", &by_id).await.expect_error(409), "user `b` already exists");
    let unknown_tenant = json!({"name": "c", "password": "p", "tenant": "green", "roles": ["member"]});
    assert_eq!(
        server.post("users", &unknown_tenant).await.expect_error(400),
        "tenant `green` does not exist"
    );
    let reply = server.post("users", &json!({"name": "", "roles": ["king"], "colour": 1})).await.expect(400);
    let paths: Vec<&str> =
        reply["errors"].as_array().unwrap().iter().map(|e| e["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["password", "tenant", "name", "roles[0]", "colour"]);
}

#[tokio::test]
async fn last_admin_cannot_be_removed() {
    let server = TestServer::new().await;
    server.delete("users/1").await.expect_error(409);
    server.put("users/1", &json!({"roles": ["viewer"]})).await.expect_error(409);
    server.put("users/1", &json!({"enabled": false})).await.expect_error(409);
    server.put("tenants/1", &json!({"enabled": false})).await.expect_error(409);
    server.get("users/me").await.expect(200);
}

#[tokio::test]
async fn stale_etag_is_refused() {
    let server = TestServer::new().await;
    let reply = server.post("tenants", &json!({"name": "blue"})).await;
    let version = reply.header("etag").to_owned();
    let path = format!("tenants/{}", reply.expect(201)["id"]);
    let put = |version: &str, name: &str| {
        let body = Body::from(json!({"name": name}).to_string());
        server.request("PUT", &path).header("if-match", version).body(body).unwrap()
    };
    let first = server.send(put(&version, "one")).await;
    let newer = first.header("etag").to_owned();
    first.expect(200);
    server.send(put(&version, "two")).await.expect_error(412);
    server.send(put(&newer, "two")).await.expect(200);
    server.send(put("unquoted", "three")).await.expect_error(400);
    let delete = server.request("DELETE", &path).header("if-match", version).body(Body::empty()).unwrap();
    server.send(delete).await.expect_error(412);
}

#[tokio::test]
async fn changes_are_recorded_in_the_audit_log() {
    let server = TestServer::new().await;
    let ada = server.create_user("ada", "blue", "admin").await;
    server.send_as(&ada, "POST", "tenants", &json!({"name": "green"})).await.expect(201);
    server.send_as(&ada, "POST", "tenants", &json!({"name": "green"})).await.expect(409);
    let log = server.get("audit").await.expect(200);
    let actions: Vec<(&str, &str)> = log
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (entry["user_name"].as_str().unwrap(), entry["action"].as_str().unwrap()))
        .collect();
    assert_eq!(
        actions,
        [
            ("ada", "tenant.create"),
            ("admin", "user.create"),
            ("admin", "tenant.create"),
            ("stoker", "user.create"),
        ]
    );
    assert_eq!(log[0]["target"], "tenant 3");
    assert!(!log.to_string().contains("pass"), "the audit log contains no secrets");
    let page = server.get("audit?action=tenant.&limit=1").await;
    assert_eq!(page.header("content-range"), "objects 0-0/2");
    page.expect(200);
    server.get("audit?offset=9").await.expect(416);
    server.get("audit?limit=x").await.expect(400);
    server.get("audit?since=yesterday").await.expect(400);
    let before_2020 = server.get("audit?until=2020-01-01T00:00:00").await.expect(200);
    assert_eq!(before_2020, json!([]));
    let since_2020 = server.get("audit?since=2020-01-01T00:00:00Z").await.expect(200);
    assert_eq!(since_2020.as_array().unwrap().len(), 4);
    server.get("audit?order_by=detail_").await.expect(400);
}
