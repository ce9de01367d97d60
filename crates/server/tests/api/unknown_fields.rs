//! Body fields: unknown ones are refused by every operation that changes something, read-only ones unless they have the
//! stored value.

use axum::body::Body;
use serde_json::{Value, json};

use crate::agent::install_agents;
use crate::beginnings::{create_node, create_release, create_run, id};
use crate::modules::body as module_body;
use crate::support::TestServer;
use stoker_model::{RunName, RunStatus};
use stoker_settings::{Runs, Server};

const UNKNOWN: &str = "no_such_field";

/// Operations whose body has no fixed set of fields, with the reason.
const OPEN: &[(&str, &str)] = &[
    (
        "POST /api/v1/agents/certificate",
        "only an agent may call it; the body is read as those of other requests",
    ),
    ("POST /keystone/v2.0/tokens", "a login starts nothing, and clients send many variants"),
    ("POST /v3/auth/tokens", "a login starts nothing, and clients send many variants"),
    ("POST /api/v1/nodes", "unknown fields are stored as facts and shown by `GET /nodes/{id}`"),
    ("PUT /api/v1/nodes/agent", "unknown fields are stored as facts and shown by `GET /nodes/{id}`"),
    ("PUT /api/v1/nodes/{id}/attributes", "a free map that is stored and shown as it is"),
    (
        "PUT /api/v1/clusters/{id}/attributes",
        "the names of settings are those of the release; see `attributes.rs`",
    ),
    (
        "PATCH /api/v1/clusters/{id}/attributes",
        "the names of settings are those of the release; see `attributes.rs`",
    ),
    (
        "PUT /api/v1/clusters/{id}/orchestrator/deployment",
        "facts: a free map that is stored and shown as it is",
    ),
    (
        "PUT /api/v1/clusters/{id}/orchestrator/provisioning",
        "facts: a free map that is stored and shown as it is",
    ),
    ("PUT /api/v1/releases/{id}/networks", "a free map that is stored and shown as it is"),
    ("POST /api/v1/releases", "own fields of a release are stored and shown"),
    ("PUT /api/v1/releases/{id}", "own fields of a release are stored and shown"),
    ("PATCH /api/v1/releases/{id}", "own fields of a release are stored and shown"),
    ("POST /api/v1/plugins", "own fields of a plugin are stored and shown"),
    ("PUT /api/v1/plugins/{id}", "own fields of a plugin are stored and shown"),
    ("PATCH /api/v1/plugins/{id}", "own fields of a plugin are stored and shown"),
    ("POST /api/v1/plugins/upload", "the body is an archive"),
    ("PUT /api/v1/graphs/{id}/tasks", "own fields of a task are stored, shown and sent to executors"),
    ("PUT /api/v1/graphs/{id}/tasks/{task}", "own fields of a task are stored, shown and sent to executors"),
    (
        "PUT /api/v1/clusters/{id}/deployment_tasks",
        "own fields of a task are stored, shown and sent to executors",
    ),
    (
        "PUT /api/v1/releases/{id}/deployment_tasks",
        "own fields of a task are stored, shown and sent to executors",
    ),
    ("PUT /api/v1/clusters/{id}/deploy_tasks", "the body is a list of names"),
    ("PUT /api/v1/clusters/{id}/extensions", "the body is a list of names"),
];

/// A server with one resource of each kind, so that no operation ends at a path that does not exist.
struct World {
    server: TestServer,
    module: String,
}

impl World {
    async fn create() -> Self {
        let runs = Runs { local_agents: true, ..Runs::default() };
        let server = TestServer::with_settings(Server { runs, ..Server::default() }).await;
        install_agents(&server.app);
        let release = create_release(&server).await;
        let cluster = json!({"name": "demo", "release_id": release});
        server.post("clusters", &cluster).await.expect(201);
        create_node(&server, 1).await;
        server.post("clusters/1/assignment", &json!([{"id": 1, "roles": []}])).await.expect(200);
        let plugin = json!({
            "name": "p", "title": "P", "version": "1.0.0", "package_version": "5.0.0", "fuel_version": ["9.0"],
            "releases": [{"os": "ubuntu", "version": "mitaka-9.0", "mode": ["ha"]}],
        });
        server.post("plugins", &plugin).await.expect(201);
        server
            .post("sequences", &json!({"release": release, "name": "s", "graphs": [{"type": "default"}]}))
            .await
            .expect(201);
        let link = json!({"title": "l", "url": "/l"});
        server.post("clusters/1/plugin_links", &link).await.expect(201);
        server.post("plugins/1/links", &link).await.expect(201);
        server.post("webhooks", &json!({"name": "w", "url": "http://127.0.0.1:1/"})).await.expect(201);
        // A cluster inherits the roles and tags of its release.
        for (owner, name) in [("releases/1", "released"), ("clusters/1", "own")] {
            let role = json!({"name": name, "meta": {"name": "Role", "description": "", "tags": []}});
            server.post(&format!("{owner}/roles"), &role).await.expect(201);
            let tag = json!({"name": name, "meta": {"has_primary": false}});
            server.post(&format!("{owner}/tags"), &tag).await.expect(201);
        }
        create_run(&server, Some(1), RunName::Deploy, RunStatus::Error).await;
        let module = server.post("/v1.0/modules", &module_body("m", json!({}))).await.expect(200);
        let module = module["module"]["id"].as_str().unwrap().to_owned();
        Self { server, module }
    }

    /// Fills the parameters of a documented path.
    fn path(&self, documented: &str) -> String {
        let mut segments = Vec::new();
        for segment in documented.split('/') {
            segments.push(match segment {
                "{tenant}" => "admin",
                "{id}" if documented.starts_with("/v1.0/{tenant}/modules") => &self.module,
                "{type}" => "default",
                "{name}" if documented.contains("/releases/") => "released",
                "{name}" => "own",
                parameter if parameter.starts_with('{') => "1",
                fixed => fixed,
            });
        }
        segments.join("/")
    }
}

/// Follows a `$ref`; returns other values unchanged.
fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    value["$ref"].as_str().map_or(value, |reference| document.pointer(&reference[1..]).unwrap())
}

/// Builds the smallest body that the schema allows, as far as examples and types tell.
fn sample(document: &Value, schema: &Value) -> Value {
    let schema = resolve(document, schema);
    for key in ["oneOf", "anyOf", "allOf"] {
        let variants = schema[key].as_array().into_iter().flatten();
        if let Some(variant) = variants.into_iter().find(|variant| variant["type"] != "null") {
            return sample(document, variant);
        }
    }
    let example = schema.get("example").or_else(|| schema["examples"].get(0));
    if let Some(example) = example {
        return example.clone();
    }
    let is = |name: &str| {
        schema["type"] == name || schema["type"].as_array().is_some_and(|types| types.contains(&json!(name)))
    };
    if is("array") {
        return json!([sample(document, &schema["items"])]);
    }
    if is("object") {
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        return required.map(|key| (key.to_owned(), sample(document, &schema["properties"][key]))).collect();
    }
    match () {
        () if is("integer") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        () if is("boolean") => json!(true),
        () => json!("text of sixteen characters"),
    }
}

/// Adds the unknown field to the map of a request, or to the first one of a list. The module API wraps its maps.
fn with_unknown_field(body: &mut Value, is_wrapped: bool) -> bool {
    match body {
        Value::Object(map) if is_wrapped && map.len() == 1 => {
            map.values_mut().next().is_some_and(|inner| with_unknown_field(inner, false))
        }
        Value::Object(map) => map.insert(UNKNOWN.to_owned(), json!(1)).is_none(),
        Value::Array(items) => items.first_mut().is_some_and(|item| with_unknown_field(item, false)),
        _ => false,
    }
}

/// Operations that may refuse a body of the wrong form with another status, and the reason.
const CALLERS: &[(&str, u16, &str)] =
    &[("POST /api/v1/agents/certificate", 401, "only an agent may call it")];

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_refuses_bodies_of_another_form() {
    let world = World::create().await;
    let document = serde_json::to_value(stoker_server::openapi_document()).unwrap();
    let (mut unexpected, mut n_checked) = (Vec::new(), 0);
    for (documented, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            if operation.get("requestBody").is_none() {
                continue;
            }
            let name = format!("{} {documented}", method.to_uppercase());
            let other =
                CALLERS.iter().find(|(operation, ..)| *operation == name).map(|(_, status, _)| *status);
            for body in ["deploy please", "{", "\"uc\"", "5"] {
                let request = world.server.request(&method.to_uppercase(), &world.path(documented));
                let reply = world.server.send(request.body(Body::from(body)).unwrap()).await;
                if reply.status != 400 && Some(reply.status) != other {
                    unexpected.push(format!("{name} with {body}: {} {}", reply.status, reply.body));
                }
            }
            n_checked += 1;
        }
    }
    assert!(unexpected.is_empty(), "{} of {n_checked}:\n{}", unexpected.len(), unexpected.join("\n"));
    assert!(n_checked > 100, "{n_checked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_that_changes_something_refuses_unknown_fields() {
    let world = World::create().await;
    let document = serde_json::to_value(stoker_server::openapi_document()).unwrap();
    let (mut accepted, mut n_checked, mut open) = (Vec::new(), 0, Vec::new());
    for (documented, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let Some(content) = operation.pointer("/requestBody/content") else { continue };
            let name = format!("{} {documented}", method.to_uppercase());
            if let Some((known, _)) = OPEN.iter().find(|(operation, _)| *operation == name) {
                open.push(*known);
                continue;
            }
            let content = &content["application/json"];
            let mut body =
                content.get("example").cloned().unwrap_or_else(|| sample(&document, &content["schema"]));
            assert!(with_unknown_field(&mut body, documented.starts_with("/v1.0")), "{name}: {body}");
            let request = world.server.request(&method.to_uppercase(), &world.path(documented));
            let reply = world.server.send(request.body(Body::from(body.to_string())).unwrap()).await;
            n_checked += 1;
            if reply.status != 400 || !reply.body.to_string().contains(UNKNOWN) {
                accepted.push(format!("{name} with {body}: {} {}", reply.status, reply.body));
            }
        }
    }
    assert!(accepted.is_empty(), "{} of {n_checked}:\n{}", accepted.len(), accepted.join("\n"));
    assert!(n_checked > 60, "{n_checked}");
    open.sort_unstable();
    let mut listed: Vec<&str> = OPEN.iter().map(|(operation, _)| *operation).collect();
    listed.sort_unstable();
    assert_eq!(open, listed, "each listed operation exists");
}

/// Resources that have read-only fields: path, the fields, and a writable field with another value.
fn readable() -> Vec<(&'static str, Value, Value)> {
    vec![
        (
            "clusters/1",
            json!({
                "id": 7, "status": "operational", "net_provider": "nova", "changes": [1], "is_customized": true,
                "fuel_version": "1", "is_locked": true, "tenant_id": 9, "created_at": "2001-01-01T00:00:00",
            }),
            json!({"name": "other"}),
        ),
        (
            "nodes/1",
            json!({"fqdn": "else", "network_data": [1], "created_at": "2001-01-01T00:00:00"}),
            json!({"name": "other"}),
        ),
        ("releases/1", json!({"id": 7, "is_deployable": false}), json!({"description": "other"})),
        ("plugins/1", json!({"id": 7}), json!({"title": "other"})),
        (
            "graphs/1",
            json!({"id": 7, "relations": [{"model": "cluster", "model_id": 9, "type": "default"}]}),
            json!({"name": "other"}),
        ),
        ("sequences/1", json!({"id": 7, "release_id": 9}), json!({"name": "other"})),
        ("clusters/1/plugin_links/1", json!({"id": 7}), json!({"title": "other"})),
        ("plugins/1/links/2", json!({"id": 7}), json!({"title": "other"})),
        ("webhooks/1", json!({"id": 7, "created_at": "2001-01-01T00:00:00"}), json!({"name": "other"})),
        ("tenants/1", json!({"id": 7, "created_at": "2001-01-01T00:00:00"}), json!({"description": "other"})),
        (
            "users/1",
            json!({"id": 7, "tenant_id": 9, "created_at": "2001-01-01T00:00:00"}),
            json!({"enabled": true}),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn read_only_fields_are_accepted_only_with_the_stored_value() {
    let world = World::create().await;
    let mut server = world.server;
    for (path, fields, change) in readable() {
        let stored = server.get(path).await.expect(200);
        for (field, value) in fields.as_object().unwrap() {
            assert!(stored.get(field).is_some_and(|stored| stored != value), "{path}: {field}");
            let mut body = change.clone();
            body[field] = value.clone();
            let message = server.put(path, &body).await.expect_error(400);
            assert!(message.contains(field) && message.contains("read-only"), "{path}: {message}");
            assert_eq!(server.get(path).await.expect(200), stored, "{path} is unchanged");
        }
        // A client reads the resource, changes a field and sends all of it back.
        let mut body = stored.clone();
        let (field, value) = change.as_object().unwrap().iter().next().unwrap();
        body[field] = value.clone();
        let updated = server.put(path, &body).await.expect(200);
        assert_eq!(&updated[field], value, "{path}");
        if path == "users/1" {
            server.log_in_again().await;
        }
    }
}

#[tokio::test]
async fn volatile_fields_of_nodes_may_change_between_reading_and_writing() {
    let server = TestServer::new().await;
    let node = create_node(&server, 1).await;
    let path = format!("nodes/{node}");
    let mut read = server.get(&path).await.expect(200);
    server.put(&path, &json!({"online": false, "progress": 50, "status": "provisioning"})).await.expect(200);
    server.put("nodes/agent", &json!({"id": node, "uptime": 9})).await.expect(200);
    read["labels"] = json!({"rack": "1"});
    let updated = server.put(&path, &read).await.expect(200);
    assert_eq!((&updated["labels"], &updated["progress"]), (&json!({"rack": "1"}), &json!(0)));
}

#[tokio::test]
async fn updates_of_several_nodes_compare_each_one() {
    let server = TestServer::new().await;
    for number in 1..3 {
        create_node(&server, number).await;
    }
    let body = json!([{"id": 1, "name": "a", "fqdn": "node-1"}, {"id": 2, "name": "b", "fqdn": "node-1"}]);
    let message = server.put("nodes", &body).await.expect_error(400);
    assert!(message.contains("[1].fqdn") && !message.contains("[0]"), "{message}");
    assert_ne!(server.get("nodes/1").await.expect(200)["name"], "a", "atomic");
}

#[tokio::test]
async fn new_resources_have_no_fields_that_the_server_assigns() {
    let server = TestServer::new().await;
    let release = json!({"name": "R", "version": "1-1", "operating_system": "Ubuntu", "is_deployable": true});
    let message = server.post("releases", &release).await.expect_error(400);
    assert!(message.contains("is_deployable"), "{message}");
    assert_eq!(server.get("releases").await.expect(200), json!([]));
    let release = id(&server
        .post(
            "releases",
            &json!({"name": "R", "version": "1-1", "operating_system": "Ubuntu", "state": "available"}),
        )
        .await
        .expect(201));
    let cluster =
        json!({"name": "c", "release_id": release, "net_segment_type": "vlan", "nodes": [], "tasks": []});
    let mut with_tasks = cluster.clone();
    with_tasks["tasks"] = json!([{"id": "a", "type": "stage"}]);
    let message = server.post("clusters", &with_tasks).await.expect_error(400);
    assert!(message.contains("tasks") && message.contains("deployment_tasks"), "{message}");
    server.post("clusters", &cluster).await.expect(201);
    let node = json!({"mac": "52:54:00:00:00:01", "status": "discover"});
    for (field, value) in
        [("online", json!(false)), ("progress", json!(5)), ("pending_addition", json!(true))]
    {
        let mut body = node.clone();
        body[field] = value;
        let message = server.post("nodes", &body).await.expect_error(400);
        assert!(message.contains(field), "{message}");
    }
    let mut agent = node.clone();
    for (field, value) in
        [("online", json!(true)), ("pending_addition", json!(false)), ("is_agent", json!(true))]
    {
        agent[field] = value;
    }
    server.post("nodes", &agent).await.expect(201);
}
