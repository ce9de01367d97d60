//! `/plugins/` and `/extensions/`

use axum::body::Body;
use serde_json::{Value, json};
use stoker_model::PluginId;

use crate::fixtures::{cluster_with_roles, set_plugin_enabled};
use crate::support::TestServer;

fn plugin() -> Value {
    json!({
        "name": "gridnet", "title": "GridNet", "version": "1.0.0", "package_version": "5.0.0",
        "fuel_version": ["10.0"], "releases": [{"os": "ubuntu", "version": "newton-10.0", "mode": ["ha"], "x": 1}],
    })
}

#[tokio::test]
async fn plugin_is_created_read_updated_and_deleted() {
    let server = TestServer::new().await;
    let created = server.post("plugins/", &plugin()).await.expect(201);
    let expected = json!({
        "id": 1, "name": "gridnet", "title": "GridNet", "version": "1.0.0", "package_version": "5.0.0",
        "description": null, "homepage": null, "is_hotpluggable": false, "fuel_version": ["10.0"], "groups": [],
        "authors": [], "licenses": [], "releases": plugin()["releases"],
    });
    assert_eq!(created, expected);
    assert_eq!(server.get("plugins/1").await.expect(200), expected);
    assert_eq!(server.get("plugins/").await.expect(200), json!([expected]));
    assert_eq!(server.get("plugins/?limit=1").await.header("content-range"), "objects 0-0/1");
    let change = json!({"title": "Grid", "name": "gridnet", "version": "1.0.1", "homepage": "x"});
    let changed = server.put("plugins/1", &change).await.expect(200);
    assert_eq!((&changed["title"], &changed["version"]), (&json!("Grid"), &json!("1.0.1")));
    assert_eq!(
        server.patch("plugins/1", &json!({"homepage": null})).await.expect(200)["homepage"],
        json!(null)
    );
    let reply = server.delete("plugins/1").await;
    assert_eq!((reply.status, reply.body), (204, Value::Null));
    for reply in [
        server.get("plugins/1").await,
        server.put("plugins/1", &json!({})).await,
        server.patch("plugins/x", &json!({})).await,
        server.delete("plugins/0").await,
    ] {
        assert_eq!(reply.expect_error(404), "Plugin not found");
    }
    assert_eq!(server.get("graphs").await.expect(200), json!([]), "its graphs are deleted");
}

#[tokio::test]
async fn conflicting_plugin_is_not_stored() {
    let server = TestServer::new().await;
    let release = json!({"name": "r", "version": "newton-10.0", "operating_system": "ubuntu", "state": "available",
               "components_metadata": [{"name": "hypervisor:core:kvm"}]});
    server.post("releases/", &release).await.expect(201);
    let plugin_with_component = |name: &str, component: &str| {
        let mut body = plugin();
        body["name"] = json!(name);
        body["components_metadata"] = json!([{"name": component}]);
        body
    };
    server.post("plugins/", &plugin_with_component("gridnet", "network:core:gridnet")).await.expect(201);
    for component in ["network:core:gridnet", "hypervisor:core:kvm"] {
        let message =
            server.post("plugins/", &plugin_with_component("other", component)).await.expect_error(409);
        assert!(message.contains(component), "{message}");
    }
    assert_eq!(server.get("plugins/").await.expect(200).as_array().unwrap().len(), 1);
    let other =
        server.post("plugins/", &plugin_with_component("other", "network:core:other")).await.expect(201);
    let path = format!("plugins/{}", other["id"]);
    let change = json!({"components_metadata": [{"name": "network:core:gridnet"}]});
    server.put(&path, &change).await.expect_error(409);
    assert_eq!(server.get("releases/1/components").await.expect(200).as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn invalid_plugin_is_refused() {
    let server = TestServer::new().await;
    for key in ["name", "title", "version", "package_version", "fuel_version", "releases"] {
        let mut body = plugin();
        body.as_object_mut().unwrap().remove(key);
        let reply = server.post("plugins/", &body).await.expect(400);
        assert_eq!(reply["errors"][0]["path"], key);
    }
    let body = server.post("plugins/", &json!({})).await.expect(400);
    assert_eq!(body["errors"].as_array().unwrap().len(), 6, "all errors are reported together");
    for (key, value) in [
        ("name", json!("Grid Net")),
        ("name", json!("")),
        ("name", json!(null)),
        ("title", json!(1)),
        ("fuel_version", json!("10.0")),
        ("releases", json!({})),
        ("releases", json!([{"os": "ubuntu"}])),
        ("releases", json!([{"version": 10}])),
        ("releases", json!([{"version": "a-1", "os": 5}])),
        ("groups", json!([1])),
        ("is_hotpluggable", json!("no")),
        ("roles_metadata", json!([])),
        ("volumes_metadata", json!({"volumes": 1})),
        ("components_metadata", json!([{}])),
        ("tasks", json!([1])),
        ("tasks", json!([{"type": "shell"}])),
        ("tasks", json!([{"type": "shell", "stage": "pre_deployment/ten"}])),
        ("provides", json!({})),
        ("provides", json!(["network:core"])),
        ("provides", (0..501).map(|number| json!({"name": format!("network:n{number}")})).collect()),
        ("wizard_metadata", json!([])),
        ("graphs", json!([{"type": "a", "tasks": [{"type": "shell"}]}])),
        ("deployment_tasks", json!("x")),
    ] {
        let mut body = plugin();
        body[key] = value;
        server.post("plugins/", &body).await.expect_error(400);
    }
    assert_eq!(server.get("plugins/").await.expect(200), json!([]));
    assert_eq!(server.get("graphs/").await.expect(200), json!([]));
    server.post("plugins/", &plugin()).await.expect(201);
    let message = server.put("plugins/1", &json!({"name": "other", "title": "x"})).await.expect_error(400);
    assert!(message.contains("cannot rename plugin"), "{message}");
    server.put("plugins/1", &json!({"title": "x", "graphs": [{"type": "a b"}]})).await.expect_error(400);
    assert_eq!(server.get("plugins/1").await.expect(200)["title"], "GridNet", "the update is atomic");
}

#[tokio::test]
async fn duplicate_plugin_is_refused_with_the_existing_one() {
    let server = TestServer::new().await;
    let created = server.post("plugins/", &plugin()).await.expect(201);
    let reply = server.post("plugins/", &plugin()).await.expect(409);
    let existing: Value = serde_json::from_str(reply["message"].as_str().unwrap()).unwrap();
    assert_eq!(existing, created);
    assert_eq!(reply["errors"][0]["id"], 1);
    let mut newer = plugin();
    newer["version"] = json!("1.1.0");
    let newer = server.post("plugins/", &newer).await.expect(201)["id"].clone();
    assert_ne!(newer, created["id"]);
    let reply = server.put(&format!("plugins/{newer}"), &json!({"version": "1.0.0"})).await.expect(409);
    assert_eq!(reply["errors"][0]["id"], 1);
}

#[tokio::test]
async fn plugin_graphs_and_extra_fields_are_stored() {
    let server = TestServer::new().await;
    let mut body = plugin();
    body["deployment_tasks"] = json!([{"id": "a", "type": "stage"}]);
    body["graphs"] = json!([{"type": "extra", "tasks": []}]);
    body["attributes_metadata"] = json!({"x": {"value": 1}});
    body["provides"] = json!([{"name": "network:core"}]);
    body["mine"] = json!({"a": 1});
    let created = server.post("plugins/", &body).await.expect(201);
    assert_eq!(created["mine"], json!({"a": 1}));
    assert_eq!((created.get("provides"), created.get("attributes_metadata")), (None, None));
    let stored = server.app.store.read().await.unwrap().plugin_get(PluginId(1)).await.unwrap().unwrap().body;
    assert_eq!(stored.extra["provides"], body["provides"]);
    assert_eq!(Value::Object(stored.attributes_metadata), body["attributes_metadata"]);
    let graphs = server.get("plugins/1/deployment_graphs").await.expect(200);
    assert_eq!(graphs.as_array().unwrap().len(), 2);
    assert_eq!(server.get("plugins/1/deployment_graphs/default").await.expect(200)["tasks"][0]["id"], "a");
    server.put("plugins/1", &json!({"deployment_tasks": []})).await.expect(200);
    assert_eq!(server.get("plugins/1/deployment_graphs/default").await.expect(200)["tasks"], json!([]));
    let mut without_os = plugin();
    without_os["name"] = json!("other");
    without_os["releases"] = json!([{"version": "a-1.0"}]);
    assert_eq!(server.post("plugins/", &without_os).await.expect(201)["releases"][0]["os"], json!(null));
    assert_eq!(server.get("plugins/2/deployment_graphs/default").await.expect(200)["tasks"], json!([]));
}

#[tokio::test]
async fn enabled_plugin_and_assigned_roles_cannot_be_deleted() {
    let server = TestServer::new().await;
    let release = json!({"name": "R", "version": "newton-10.0", "operating_system": "Ubuntu"});
    server.post("releases", &release).await.expect(201);
    let mut body = plugin();
    body["roles_metadata"] = json!({"used": {}, "free": {}});
    server.post("plugins/", &body).await.expect(201);
    let cluster = cluster_with_roles(&server, 1, &["used"], &[]).await;
    set_plugin_enabled(&server, cluster, true).await;
    let message = server.delete("plugins/1").await.expect_error(409);
    assert!(message.starts_with("cannot delete a plugin that is enabled in clusters"), "{message}");
    server.put("plugins/1", &json!({"roles_metadata": {"free": {}}})).await.expect_error(400);
    server.put("plugins/1", &json!({"roles_metadata": {"used": {}}})).await.expect(200);
    set_plugin_enabled(&server, cluster, false).await;
    server.delete("plugins/1").await.expect(204);
}

#[tokio::test]
async fn stale_etag_is_refused() {
    let server = TestServer::new().await;
    assert_eq!(server.post("plugins/", &plugin()).await.header("etag"), "\"1\"");
    server.put("plugins/1", &json!({"title": "t"})).await.expect(200);
    for (method, body) in [("PUT", "{\"title\": \"u\"}"), ("PATCH", "{}"), ("DELETE", "")] {
        let request = server.request(method, "plugins/1").header("if-match", "\"1\"");
        server.send(request.body(Body::from(body)).unwrap()).await.expect_error(412);
    }
    assert_eq!(server.get("plugins/1").await.expect(200)["title"], "t");
}

#[tokio::test]
async fn extension_list_is_empty() {
    let server = TestServer::new().await;
    assert_eq!(server.get("extensions/").await.expect(200), json!([]));
    server.post("extensions/", &json!({})).await.expect_error(405);
}

/// The `metadata.yaml` files of real packages from the shared data, which may be absent.
#[tokio::test]
async fn real_plugin_metadata_is_accepted() {
    let Some(folder) = stoker_testenv::shared_folder("plugins/community") else { return };
    let server = TestServer::new().await;
    let mut n_plugins = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let Ok(text) = std::fs::read_to_string(entry.unwrap().path().join("metadata.yaml")) else { continue };
        let request = server.request("POST", "plugins").header("content-type", "application/x-yaml");
        let created = server.send(request.body(Body::from(text)).unwrap()).await.expect(201);
        assert!(created["releases"].as_array().unwrap().iter().all(|release| release["os"].is_string()));
        n_plugins += 1;
    }
    assert!(n_plugins > 0, "the folder has no plugins");
}
