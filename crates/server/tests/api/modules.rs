//! The module API: error table, visibility by tenant and options reserved for admins.

use axum::body::Body;
use serde_json::{Value, json};

use crate::beginnings::create_release;
use crate::support::{Reply, TestServer};

/// Base64 of `message=hi`.
pub(crate) const CONTENTS: &str = "bWVzc2FnZT1oaQo=";

impl Reply {
    /// Asserts the status and the fault envelope of the module API; returns the message.
    #[track_caller]
    pub(crate) fn expect_fault(self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.body);
        let key = match status {
            400 => "badRequest",
            401 => "unauthorized",
            403 => "forbidden",
            404 => "itemNotFound",
            405 => "badMethod",
            413 => "overLimit",
            422 => "unprocessableEntity",
            other => panic!("{other}"),
        };
        assert_eq!(self.body[key]["code"], status, "{}", self.body);
        assert_eq!(self.body.as_object().unwrap().len(), 1, "{}", self.body);
        self.body[key]["message"].as_str().expect("a message").to_owned()
    }
}

/// A server with tokens of members of two tenants.
pub(crate) struct Tenants {
    pub(crate) server: TestServer,
    pub(crate) ada: String,
    pub(crate) bob: String,
}

impl Tenants {
    pub(crate) async fn create(server: TestServer) -> Self {
        let ada = server.create_user("ada", "red", "member").await;
        let bob = server.create_user("bob", "blue", "member").await;
        Self { server, ada, bob }
    }

    async fn new() -> Self {
        Self::create(TestServer::new().await).await
    }
}

pub(crate) fn body(name: &str, extra: Value) -> Value {
    let mut module = json!({"name": name, "module_type": "ping", "contents": CONTENTS});
    for (key, value) in extra.as_object().unwrap() {
        module[key] = value.clone();
    }
    json!({"module": module})
}

impl TestServer {
    pub(crate) async fn create_module(&self, name: &str, extra: Value) -> Value {
        self.post("/v1.0/modules", &body(name, extra)).await.expect(200)["module"].clone()
    }

    pub(crate) async fn create_module_as(&self, token: &str, name: &str, extra: Value) -> Value {
        let reply = self.send_as(token, "POST", "/v1.0/modules", &body(name, extra)).await;
        reply.expect(200)["module"].clone()
    }
}

pub(crate) fn id(module: &Value) -> String {
    module["id"].as_str().unwrap().to_owned()
}

fn path(module: &Value) -> String {
    format!("/v1.0/modules/{}", id(module))
}

#[tokio::test]
async fn module_is_created_read_updated_and_deleted() {
    let server = TestServer::new().await;
    create_release(&server).await;
    let created =
        server.create_module("license", json!({"description": "d", "datastore": {"type": "R"}})).await;
    let expected = json!({
        "name": "license", "type": "ping", "description": "d", "tenant_id": "1", "tenant": "1",
        "datastore_id": "R", "datastore": "R", "datastore_version_id": null, "datastore_version": "all",
        "auto_apply": false, "priority_apply": false, "apply_order": 5, "is_admin": true, "visible": true,
        "live_update": false, "md5": "e18e9c0a4d721c428e2e328126d01a30",
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&created[key], value, "{key}");
    }
    assert_eq!(created["created"].as_str().unwrap().len(), "2026-01-31T07:04:34".len());
    assert!(created.get("instance_count").is_none() && created.get("contents").is_none());
    for spelling in ["/v1.0/1/modules", "/v1.0/admin/modules", "/v1.0/-/modules/", "/v1.0/modules"] {
        let listed = server.get(spelling).await.expect(200);
        assert_eq!(listed["modules"].as_array().unwrap().len(), 1, "{spelling}");
        assert!(listed["modules"][0].get("live_update").is_none());
    }
    let stored = server.get(&path(&created)).await.expect(200)["module"].clone();
    assert_eq!((&stored["instance_count"], &stored["id"]), (&json!(0), &created["id"]));
    let change =
        json!({"module": {"priority_apply": true, "apply_order": 0, "contents": "bmV3", "type": "file"}});
    let changed = server.patch(&path(&created), &change).await.expect(200)["module"].clone();
    assert_eq!(changed["priority_apply"], true);
    assert_eq!((&changed["apply_order"], &changed["type"]), (&json!(0), &json!("file")));
    assert_ne!(changed["md5"], created["md5"]);
    assert_eq!(changed["description"], "d");
    let lifted = json!({"module": {"all_datastores": 1, "visible": 0}});
    let lifted = server.put(&path(&created), &lifted).await.expect(200)["module"].clone();
    assert_eq!((&lifted["datastore"], &lifted["visible"]), (&json!("all"), &json!(false)));
    let deleted = server.delete(&path(&created)).await;
    assert_eq!((deleted.status, &deleted.body), (200, &Value::Null));
    server.get(&path(&created)).await.expect_fault(404);
    server.create_module("license", json!({})).await;
}

#[tokio::test]
async fn module_contents_are_encrypted_and_never_returned() {
    let server = TestServer::new().await;
    let created = server.create_module("license", json!({"contents": "aHVudGVyMg=="})).await;
    let listed = server.get("/v1.0/modules").await.expect(200);
    let log = server.get("audit/").await;
    for text in [created.to_string(), listed.to_string(), log.body.to_string()] {
        assert!(!text.contains("aHVudGVyMg"), "{text}");
    }
    let mut session = server.app.store.read().await.unwrap();
    let module = session.module_by_uuid(&id(&created)).await.unwrap().unwrap();
    let encrypted = session.module_contents(module.id).await.unwrap();
    assert!(!String::from_utf8_lossy(&encrypted.bytes).contains("aHVudGVyMg"));
}

#[tokio::test]
async fn invalid_module_body_is_refused_with_reason() {
    let server = TestServer::new().await;
    let post = async |body: Value| server.post("/v1.0/modules", &body).await.expect_fault(400);
    for text in ["{", "[1,", "\"", "{\"module\": \u{1}}"] {
        let request = server.request("POST", "/v1.0/modules").header("content-type", "application/json");
        let reply = server.send(request.body(Body::from(text)).unwrap()).await;
        assert!(reply.expect_fault(400).starts_with("Malformed request body"), "{text}");
    }
    for body in [json!({}), json!([]), json!({"modul": {}}), json!({"module": 5})] {
        assert!(post(body).await.starts_with("Validation error: "));
    }
    let error = post(json!({"module": {}})).await;
    for key in ["name", "module_type", "contents"] {
        assert!(error.contains(&format!("module '{key}' is a required property")), "{error}");
    }
    for (extra, expected) in [
        (json!({"name": "--"}), "Validation error: module['name']"),
        (json!({"name": "x".repeat(256)}), "Validation error: module['name']"),
        (json!({"description": ""}), "Validation error: module['description']"),
        (json!({"module_type": 5}), "Validation error: module['module_type']"),
        (json!({"contents": ""}), "Validation error: module['contents']"),
        (
            json!({"apply_order": -1}),
            "Validation error: module['apply_order'] -1 is less than the minimum of 0",
        ),
        (
            json!({"apply_order": 10}),
            "Validation error: module['apply_order'] 10 is greater than the maximum of 9",
        ),
        (json!({"apply_order": "5"}), "Validation error: module['apply_order'] '5' is not of type 'integer'"),
        (json!({"apply_order": 5.0}), "Validation error: module['apply_order'] 5.0 is not of type 'integer'"),
        (json!({"visible": 7}), "Validation error: module['visible']"),
    ] {
        let message = post(body("m", extra)).await;
        assert!(message.starts_with(expected), "{message}");
    }
    assert_eq!(server.get("/v1.0/modules").await.expect(200)["modules"], json!([]));
    let large = body("m", json!({"contents": "A".repeat(5 << 20)}));
    server.post("/v1.0/modules", &large).await.expect_fault(413);
}

#[tokio::test]
async fn module_type_datastore_and_uniqueness_are_validated() {
    let server = TestServer::new().await;
    create_release(&server).await;
    let post = async |extra: Value| server.post("/v1.0/modules", &body("m", extra)).await;
    assert_eq!(post(json!({"module_type": "x"})).await.expect_fault(404), "Module type 'x' was not found.");
    let on = async |datastore: Value| post(json!({"datastore": datastore})).await;
    assert_eq!(on(json!({"type": "x"})).await.expect_fault(404), "Datastore 'x' cannot be found.");
    let version = on(json!({"type": "R", "version": "x"})).await.expect_fault(400);
    assert_eq!(version, "Datastore version 'x' cannot be found.");
    let alone = on(json!({"version": "x"})).await.expect_fault(400);
    assert_eq!(alone, "Datastore 'None' has no version 'x'.");
    let created =
        server.create_module("m", json!({"datastore": {"type": "R", "version": "mitaka-9.0"}})).await;
    let duplicate = on(json!({"type": "R", "version": "mitaka-9.0"})).await.expect_fault(400);
    assert!(duplicate.starts_with("A module with the name 'm' already exists for datastore"), "{duplicate}");
    let upper =
        post(json!({"module_type": "PING", "datastore": {"type": "R", "version": "mitaka-9.0"}})).await;
    upper.expect_fault(400);
    let other =
        server.create_module("other", json!({"datastore": {"type": "R", "version": "mitaka-9.0"}})).await;
    let renamed = server.put(&path(&other), &json!({"module": {"name": "m"}})).await.expect_fault(400);
    assert!(renamed.starts_with("A module with the name 'm' already exists"), "{renamed}");
    let put = async |module: Value| server.put(&path(&created), &json!({"module": module})).await;
    put(json!({"all_datastores": 1})).await.expect_fault(400);
    put(json!({"all_datastores": 1, "datastore": {"type": "R"}})).await.expect_fault(400);
    put(json!({"type": "nonesuch"})).await.expect_fault(404);
    put(json!({"module_type": "nonesuch"})).await.expect_fault(404);
    assert_eq!(server.get(&path(&created)).await.expect(200)["module"]["type"], "ping");
    let filtered = async |query: &str| server.get(&format!("/v1.0/modules?datastore={query}")).await;
    assert_eq!(filtered("R").await.expect(200)["modules"].as_array().unwrap().len(), 2);
    assert_eq!(filtered("all").await.expect(200)["modules"], json!([]));
    assert_eq!(filtered("x").await.expect_fault(404), "Datastore 'x' cannot be found.");
}

#[tokio::test]
async fn tenant_reads_and_updates_only_its_modules() {
    let Tenants { server, ada, bob } = Tenants::new().await;
    let own_module = server.create_module_as(&ada, "own", json!({})).await;
    assert_eq!((&own_module["tenant"], &own_module["is_admin"]), (&json!("2"), &json!(false)));
    let public_module = server.create_module("all", json!({"all_tenants": 1})).await;
    let hidden_module = server.create_module("hidden", json!({"all_tenants": true, "visible": false})).await;
    let names = async |token: &str| -> Vec<String> {
        let listed = server.send_as(token, "GET", "/v1.0/modules", &Value::Null).await.expect(200);
        let modules = listed["modules"].as_array().unwrap().clone();
        modules.iter().map(|module| module["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&ada).await, ["own", "all"]);
    assert_eq!(names(&bob).await, ["all"]);
    let admin_list = server.get("/v1.0/modules").await.expect(200);
    assert_eq!(admin_list["modules"].as_array().unwrap().len(), 3);
    for (token, module) in [(&bob, &own_module), (&ada, &hidden_module), (&bob, &hidden_module)] {
        for (method, body) in [
            ("GET", Value::Null),
            ("PUT", json!({"module": {"apply_order": 1}})),
            ("PATCH", json!({"module": {"apply_order": 1}})),
            ("DELETE", Value::Null),
        ] {
            let message = server.send_as(token, method, &path(module), &body).await.expect_fault(404);
            assert_eq!(message, format!("Module with ID {} could not be found.", id(module)));
        }
        for (method, body) in [("GET", Value::Null), ("PUT", json!({"reapply": {}}))] {
            let instances = format!("{}/instances", path(module));
            server.send_as(token, method, &instances, &body).await.expect_fault(404);
        }
    }
    let reordered = json!({"module": {"apply_order": 0}});
    let error = server.send_as(&ada, "PUT", &path(&public_module), &reordered).await.expect_fault(403);
    assert_eq!(error, "You must be admin to update a module with these options. (Module is an admin module)");
    let error = server.send_as(&ada, "GET", "/v1.0/3/modules", &Value::Null).await.expect_fault(403);
    assert!(error.starts_with("User with tenant id 2 cannot access"), "{error}");
    server.get("/v1.0/2/modules").await.expect_fault(403);
    server.get("/v1.0/modules/nonesuch").await.expect_fault(404);
    server.send_as(&ada, "GET", "/v1.0/red/modules", &Value::Null).await.expect(200);
}

#[tokio::test]
async fn admin_options_require_admin_role() {
    let Tenants { server, ada, .. } = Tenants::new().await;
    let post = async |extra: Value| server.send_as(&ada, "POST", "/v1.0/modules", &body("m", extra)).await;
    for (extra, expected) in [
        (json!({"all_tenants": 1}), "(Tenant: all)"),
        (json!({"auto_apply": 1}), "(Auto: 1)"),
        (json!({"visible": 0}), "(Visible: 0)"),
        (json!({"priority_apply": 1}), "(Priority: 1)"),
        (json!({"full_access": 1}), "(Full Access: 1)"),
        (json!({"full_access": 0}), "(Full Access: 0)"),
    ] {
        let message = post(extra).await.expect_fault(403);
        assert_eq!(message, format!("You must be admin to create a module with these options. {expected}"));
    }
    let own_module = server.create_module_as(&ada, "own", json!({})).await;
    let by_ada = async |module: Value| {
        server.send_as(&ada, "PUT", &path(&own_module), &json!({"module": module})).await
    };
    by_ada(json!({"priority_apply": 0, "apply_order": 2})).await.expect(200);
    by_ada(json!({"priority_apply": 1})).await.expect_fault(403);
    let by_admin = async |module: Value| server.put(&path(&own_module), &json!({"module": module})).await;
    assert_eq!(by_admin(json!({"priority_apply": 1})).await.expect(200)["module"]["is_admin"], true);
    let error = by_admin(json!({"full_access": 1})).await.expect_fault(400);
    assert_eq!(error, "The following values are invalid: Cannot make module full access: (Priority: 1).");
    assert_eq!(by_admin(json!({"priority_apply": 0})).await.expect(200)["module"]["is_admin"], true);
    by_ada(json!({"apply_order": 3})).await.expect_fault(403);
    server.send_as(&ada, "DELETE", &path(&own_module), &Value::Null).await.expect_fault(403);
    assert_eq!(by_admin(json!({"full_access": 1})).await.expect(200)["module"]["is_admin"], false);
    by_ada(json!({"apply_order": 3})).await.expect(200);
    assert_eq!(server.send_as(&ada, "DELETE", &path(&own_module), &Value::Null).await.status, 200);
}

#[tokio::test]
async fn module_api_requires_authentication_and_permission() {
    let server = TestServer::new().await;
    let anonymous = crate::support::request("GET", "/v1.0/modules").body(Body::empty()).unwrap();
    assert_eq!(server.send(anonymous).await.status, 401);
    let basic = crate::support::request("GET", "/v1.0/admin/modules")
        .header("authorization", "Basic YWRtaW46c2VjcmV0");
    assert_eq!(server.send(basic.body(Body::empty()).unwrap()).await.status, 200);
    let viewer = server.create_user("vic", "red", "viewer").await;
    assert_eq!(server.send_as(&viewer, "GET", "/v1.0/modules", &Value::Null).await.status, 403);
    let operator = server.create_user("olga", "red", "operator").await;
    let created = server.create_module_as(&operator, "own", json!({})).await;
    assert_eq!(created["is_admin"], false, "an operator is not a module admin");
}

#[tokio::test]
async fn releases_are_listed_as_datastores() {
    let server = TestServer::new().await;
    create_release(&server).await;
    let listed = server.get("/v1.0/datastores").await.expect(200);
    assert_eq!(listed["datastores"][0]["name"], "R");
    assert_eq!(listed["datastores"][0]["default_version"], "mitaka-9.0");
    let datastore = server.get("/v1.0/datastores/R").await.expect(200);
    assert_eq!(datastore["datastore"]["versions"][0]["active"], true);
    let versions = server.get("/v1.0/datastores/R/versions").await.expect(200);
    assert_eq!(versions["versions"][0]["name"], "mitaka-9.0");
    let version = server.get("/v1.0/datastores/R/versions/mitaka-9.0").await.expect(200);
    assert_eq!(version["version"]["id"], "mitaka-9.0");
    server.get("/v1.0/datastores/x").await.expect_fault(404);
    server.get("/v1.0/datastores/R/versions/x").await.expect_fault(404);
}

#[tokio::test]
async fn datastore_versions_are_sorted_like_releases() {
    let server = TestServer::new().await;
    for version in ["mitaka-9.0", "2015.1.0-7.0", "newton-10.0", "2014.2.2-6.1", "liberty-8.0"] {
        let body = json!({"name": "R", "version": version, "operating_system": "Ubuntu"});
        server.post("releases", &body).await.expect(201);
    }
    let datastore = server.get("/v1.0/datastores/R").await.expect(200)["datastore"].clone();
    let versions: Vec<&str> =
        datastore["versions"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(versions, ["newton-10.0", "mitaka-9.0", "liberty-8.0", "2015.1.0-7.0", "2014.2.2-6.1"]);
    assert_eq!(datastore["default_version"], "newton-10.0");
}

#[tokio::test]
async fn module_api_errors_use_its_fault_envelope() {
    let server = TestServer::new().await;
    for path in ["/v1.0/modules", "/v1.0/admin/modules", "/v1.0/instances/1/modules"] {
        let anonymous = crate::support::request("GET", path).body(Body::empty()).unwrap();
        server.send(anonymous).await.expect_fault(401);
        let stranger = server.send_as("nonesuch", "GET", path, &Value::Null).await;
        stranger.expect_fault(401);
    }
    let reply = server.delete("/v1.0/modules").await;
    assert!(reply.header("allow").contains("GET"), "{:?}", reply.headers);
    reply.expect_fault(405);
    server.get("/v1.0/admin/nonesuch").await.expect_fault(404);
    for (number, expected) in [
        ("1000000000000000000000000000000", "is greater than the maximum of 9"),
        ("-1000000000000000000000000000000", "is less than the minimum of 0"),
    ] {
        let text = format!(
            "{{\"module\": {{\"name\": \"m\", \"module_type\": \"ping\", \"contents\": \"eA==\", \"apply_order\": {number}}}}}"
        );
        let request = server.request("POST", "/v1.0/modules").body(Body::from(text)).unwrap();
        let message = server.send(request).await.expect_fault(400);
        assert!(message.contains("module['apply_order']") && message.contains(expected), "{message}");
    }
}

#[tokio::test]
async fn read_only_properties_are_accepted_only_with_the_stored_values() {
    let server = TestServer::new().await;
    let module = server.create_module("m", json!({"description": "d"})).await;
    let path = format!("/v1.0/modules/{}", id(&module));
    let mut shown = server.get(&path).await.expect(200);
    for (key, value) in
        [("md5", json!("0")), ("is_admin", json!(false)), ("tenant_id", json!(null)), ("type", json!("file"))]
    {
        let mut changed = json!({"module": {"apply_order": 1, "module_type": "ping"}});
        changed["module"][key] = value;
        let message = server.put(&path, &changed).await.expect_fault(400);
        assert!(message.contains(key), "{message}");
    }
    shown["module"]["apply_order"] = json!(1);
    let fields = shown["module"].as_object_mut().unwrap();
    fields.shift_remove("datastore");
    assert_eq!(server.put(&path, &shown).await.expect(200)["module"]["apply_order"], 1);
}
