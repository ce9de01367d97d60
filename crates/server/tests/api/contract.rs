//! The OpenAPI document is complete, and the server's responses to invalid requests conform to it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use axum::body::Body;
use serde_json::{Value, json};

use crate::support::{Reply, TestServer, request};

/// Credentials of a user that does not exist.
const BAD_LOGIN: &str = "Basic Ym9iOmJhZA==";
const METHODS: [&str; 5] = ["get", "put", "post", "delete", "patch"];

struct Operation {
    name: String,
    method: String,
    path: String,
    content: Value,
}

fn document() -> Value {
    serde_json::to_value(stoker_server::openapi_document()).unwrap()
}

fn operations(document: &Value) -> Vec<Operation> {
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, content) in item.as_object().unwrap() {
            assert!(METHODS.contains(&method.as_str()), "{method} {path}");
            operations.push(Operation {
                name: format!("{method} {path}"),
                method: method.to_uppercase(),
                path: path.clone(),
                content: content.clone(),
            });
        }
    }
    assert!(operations.len() > 100);
    operations
}

impl Operation {
    /// Responses by status, with shared responses resolved.
    fn responses<'a>(&'a self, document: &'a Value) -> Vec<(&'a str, &'a Value)> {
        let responses = self.content["responses"].as_object().unwrap();
        responses.iter().map(|(status, response)| (status.as_str(), resolve(document, response))).collect()
    }

    fn has_parameter(&self, name: &str) -> bool {
        self.content["parameters"].as_array().into_iter().flatten().any(|parameter| parameter["name"] == name)
    }

    /// Returns the path with IDs that do not exist.
    fn path_with_unknown_ids(&self) -> String {
        let fill = |segment: &str| {
            if segment.starts_with('{') { "999999999".to_owned() } else { segment.to_owned() }
        };
        self.path.split('/').map(fill).collect::<Vec<_>>().join("/")
    }
}

/// Follows a `$ref`; returns other values unchanged.
fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let Some(reference) = value["$ref"].as_str() else { return value };
    let pointer = reference.strip_prefix('#').unwrap();
    document.pointer(pointer).unwrap_or_else(|| panic!("{reference} does not resolve"))
}

/// Collects all `$ref` targets below a value.
fn collect_references<'a>(value: &'a Value, references: &mut BTreeSet<&'a str>) {
    match value {
        Value::Object(map) => {
            references.extend(map.get("$ref").and_then(Value::as_str));
            map.values().for_each(|value| collect_references(value, references));
        }
        Value::Array(items) => items.iter().for_each(|value| collect_references(value, references)),
        _ => {}
    }
}

#[test]
fn every_operation_has_id_summary_and_success_response() {
    let document = document();
    assert_eq!(document["openapi"], "3.1.0");
    let mut ids = BTreeSet::new();
    for operation in operations(&document) {
        let name = &operation.name;
        let id =
            operation.content["operationId"].as_str().unwrap_or_else(|| panic!("{name} has no operation ID"));
        assert!(ids.insert(id.to_owned()), "{name}: duplicate operation ID {id}");
        assert!(operation.content["summary"].as_str().is_some_and(|text| !text.is_empty()), "{name}");
        let responses = operation.responses(&document);
        let is_success = |status: &str| status.starts_with('2') || status == "101";
        assert!(responses.iter().any(|(status, _)| is_success(status)), "{name}");
        assert!(
            !responses.iter().any(|(status, _)| *status == "500"),
            "{name}: internal errors are not part of the contract"
        );
    }
}

#[test]
fn every_response_body_has_a_schema_and_every_reference_resolves() {
    let document = document();
    for operation in operations(&document) {
        for (status, response) in operation.responses(&document) {
            let content = response["content"].as_object();
            // The module API has empty responses with other statuses, described as "No body".
            let has_no_body =
                response["description"].as_str().is_some_and(|text| text.starts_with("No body"));
            let is_empty = matches!(status, "101" | "204") || has_no_body;
            assert_eq!(content.is_none(), is_empty, "{} {status}", operation.name);
            for (media, content) in content.into_iter().flatten() {
                assert!(!content["schema"].is_null(), "{} {status} {media}", operation.name);
            }
        }
    }
    let mut references = BTreeSet::new();
    collect_references(&document, &mut references);
    assert!(references.len() > 20);
    for reference in references {
        resolve(&document, &json!({"$ref": reference}));
    }
}

#[test]
fn json_and_yaml_media_types_share_schemas() {
    let document = document();
    for operation in operations(&document) {
        let responses = operation.responses(&document);
        let responses = responses.into_iter().map(|(_, response)| &response["content"]);
        let body = resolve(&document, &operation.content["requestBody"]);
        for content in responses.chain([&body["content"]]) {
            assert_eq!(content["application/json"], content["application/x-yaml"], "{}", operation.name);
        }
    }
}

#[test]
fn checked_in_openapi_document_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../openapi/stoker.json");
    let checked_in = fs::read_to_string(path).unwrap_or_default();
    assert!(checked_in == stoker_server::openapi_text(), "run `cargo xtask codegen` and commit");
}

#[tokio::test]
async fn if_match_is_read_exactly_where_documented() {
    let server = TestServer::new().await;
    let document = document();
    for operation in operations(&document) {
        // An invalid ETag: operations that read the header refuse it before any other check.
        let request = server
            .request(&operation.method, &operation.path_with_unknown_ids())
            .header("if-match", "nonsense");
        let reply = server.send(request.body(Body::from("{}")).unwrap()).await;
        let is_read = reply.status == 400 && message(&reply).contains("If-Match");
        assert_eq!(is_read, operation.has_parameter("If-Match"), "{}: {}", operation.name, reply.body);
        let may_be_stale = operation.responses(&document).iter().any(|(status, _)| *status == "412");
        assert_eq!(is_read, may_be_stale, "{}", operation.name);
    }
}

fn message(reply: &Reply) -> &str {
    reply.body["message"].as_str().unwrap_or_default()
}

async fn send_with_bad_login(server: &TestServer, method: &str, path: &str, body: &Value) -> Reply {
    let request = request(method, path).header("authorization", BAD_LOGIN);
    server.send(request.body(Body::from(body.to_string())).unwrap()).await
}

#[tokio::test]
async fn bad_credentials_do_not_block_public_operations() {
    let server = TestServer::new().await;
    for _ in 0..11 {
        send_with_bad_login(&server, "GET", "tenants", &Value::Null).await;
    }
    let throttled = send_with_bad_login(&server, "GET", "tenants", &Value::Null).await;
    assert!(throttled.header("retry-after").parse::<u32>().unwrap() >= 1);
    throttled.expect_error(429);
    send_with_bad_login(&server, "GET", "version", &Value::Null).await.expect(200);
    send_with_bad_login(&server, "GET", "/health", &Value::Null).await.expect(200);
    let login = json!({"auth": {"passwordCredentials": {"username": "admin", "password": "secret"}}});
    send_with_bad_login(&server, "POST", "/keystone/v2.0/tokens", &login).await.expect(200);
}

#[tokio::test]
async fn graph_of_unknown_owner_is_a_documented_404() {
    let server = TestServer::new().await;
    for (model, message) in [("release", "Release"), ("cluster", "Cluster"), ("plugin", "Plugin")] {
        let body = json!({"model": model, "model_id": 99});
        assert_eq!(server.post("graphs", &body).await.expect_error(404), format!("{message} not found"));
    }
    let create = &document()["paths"]["/api/v1/graphs"]["post"];
    assert!(create["responses"]["404"].is_object());
}

#[tokio::test]
async fn nul_characters_never_cause_server_errors() {
    let server = TestServer::new().await;
    let release =
        json!({"name": "R", "version": "a-1.0", "operating_system": "Ubuntu", "state": "available"});
    server.post("releases", &release).await.expect(201);
    for (path, body) in [
        ("tenants", json!({"name": "a\u{0}"})),
        ("tokens", json!({"label": "a\u{0}"})),
        ("users", json!({"name": "a\u{0}", "password": "x", "tenant": "admin", "roles": []})),
        ("users", json!({"name": "a", "password": "x", "tenant": "a\u{0}", "roles": []})),
        ("releases", json!({"name": "R\u{0}", "version": "a-2.0", "operating_system": "Ubuntu"})),
        ("releases/1/roles", json!({"name": "a\u{0}", "meta": {"name": "A"}, "volumes_roles_mapping": []})),
        ("releases/1/deployment_graphs/x", json!({"name": "a\u{0}"})),
        ("clusters", json!({"name": "a\u{0}", "release_id": 1})),
        ("clusters", json!({"name": "a", "release_id": 1, "tenant": "a\u{0}"})),
        ("sequences", json!({"release": 1, "name": "a\u{0}", "graphs": [{"type": "x"}]})),
        ("nodes", json!({"mac": "52:54:00:00:00:01", "name": "a\u{0}"})),
    ] {
        server.post(path, &body).await.expect_error(400);
    }
    // Custom fields round-trip on both database engines.
    let task = json!({"id": "a", "type": "stage", "x": "\u{0}"});
    let graph = server.post("releases/1/deployment_graphs/x", &json!({"tasks": [task]})).await.expect(200);
    assert_eq!(graph["tasks"][0]["x"], "\u{0}");
    for path in [
        "tenants?order_by=%00",
        "audit?action=%00",
        "audit?target=a%00",
        "graphs?graph_types=%00",
        "releases/1/roles/a%00",
        "releases/1/tags/a%00",
        "releases/1/deployment_graphs/a%00",
        "releases/1/deployment_tasks?graph_type=%00",
        "graphs/1/tasks/%00",
        "nodes?order_by=%00",
        "transactions?statuses=%00",
    ] {
        let reply = server.get(path).await;
        assert!([200, 400, 404].contains(&reply.status), "{path}: {} {}", reply.status, reply.body);
    }
    let login =
        json!({"auth": {"passwordCredentials": {"username": "admin\u{0}", "password": "secret\u{0}"}}});
    server.post("/keystone/v2.0/tokens", &login).await.expect(401);
    let tenant = json!({"auth": {
        "tenantName": "a\u{0}", "passwordCredentials": {"username": "admin", "password": "secret"}}});
    server.post("/keystone/v2.0/tokens", &tenant).await.expect(401);
}

#[tokio::test]
async fn out_of_range_numbers_never_cause_server_errors() {
    let server = TestServer::new().await;
    for number in [
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775809",
        "1e400",
        "99999999999999999999",
    ] {
        for path in [
            format!("tenants?limit={number}&offset={number}"),
            format!("tokens?user_id={number}"),
            format!("audit?user_id={number}"),
            format!("graphs?clusters_ids={number}&fetch_related=1"),
            format!("sequences?release={number}"),
            format!("nodes?cluster_id={number}"),
            format!("transactions?cluster_id={number}"),
            format!("clusters/{number}/deployment_tasks"),
            format!("graphs/{number}/tasks/{number}"),
        ] {
            let reply = server.get(&path).await;
            assert!([200, 400, 404, 416].contains(&reply.status), "{path}: {} {}", reply.status, reply.body);
        }
    }
}
