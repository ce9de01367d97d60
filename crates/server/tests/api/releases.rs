//! `/releases/`

use axum::body::Body;
use serde_json::{Value, json};
use stoker_model::ReleaseId;

use crate::fixtures::cluster_with_roles;
use crate::support::TestServer;

fn release() -> Value {
    json!({"name": "Newton", "version": "newton-10.0", "operating_system": "Ubuntu"})
}

async fn n_releases(server: &TestServer) -> usize {
    server.get("releases/").await.expect(200).as_array().unwrap().len()
}

#[tokio::test]
async fn release_is_created_read_updated_and_deleted() {
    let server = TestServer::new().await;
    let reply = server.post("releases/", &release()).await;
    assert_eq!(reply.header("etag"), "\"1\"");
    let created = reply.expect(201);
    let expected = json!({
        "id": 1, "name": "Newton", "version": "newton-10.0", "description": null, "operating_system": "Ubuntu",
        "state": "unavailable", "modes_metadata": {}, "roles_metadata": {}, "tags_metadata": {},
        "attributes_metadata": {"editable": {}, "generated": {}}, "components_metadata": [], "is_deployable": false,
    });
    assert_eq!(created, expected);
    assert_eq!(server.get("releases/1").await.expect(200), expected);
    assert_eq!(server.get("releases/").await.expect(200), json!([expected]));

    let changed =
        server.put("releases/1/", &json!({"state": "manageonly", "description": "x"})).await.expect(200);
    assert_eq!((&changed["is_deployable"], &changed["name"]), (&json!(true), &json!("Newton")));
    let changed = server.patch("releases/1", &json!({"description": null})).await.expect(200);
    assert_eq!((&changed["description"], &changed["state"]), (&json!(null), &json!("manageonly")));
    // A GET response is a valid PUT body.
    assert_eq!(server.put("releases/1", &changed).await.expect(200), changed);

    let reply = server.delete("releases/1").await;
    assert_eq!((reply.status, reply.body), (204, Value::Null));
    assert_eq!(server.get("releases/1").await.expect_error(404), "Release not found");
    assert_eq!(server.get("graphs/").await.expect(200), json!([]), "its graphs are deleted");
}

#[tokio::test]
async fn missing_required_fields_use_legacy_messages() {
    let server = TestServer::new().await;
    for (key, message) in [
        ("name", "No release name specified"),
        ("version", "No release version specified"),
        ("operating_system", "No release operating system specified"),
    ] {
        let mut body = release();
        body.as_object_mut().unwrap().remove(key);
        let reply = server.post("releases/", &body).await.expect(400);
        assert_eq!(reply["message"], message);
        assert_eq!(reply["errors"][0]["path"], key);
    }
    let error = server.post("releases", &json!({})).await.expect_error(400);
    assert_eq!(error.lines().count(), 3, "{error}");
    // Missing fields are reported together with all other errors.
    let reply =
        server.post("releases", &json!({"name": 5, "state": "gone", "roles_metadata": {"a": 1}})).await;
    let body = reply.expect(400);
    let paths: Vec<&str> =
        body["errors"].as_array().unwrap().iter().map(|error| error["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["version", "operating_system", "name", "state", "roles_metadata.a"]);
    assert!(body["message"].as_str().unwrap().contains("No release version specified"));
    assert_eq!(n_releases(&server).await, 0);
}

#[tokio::test]
async fn invalid_release_fields_are_refused() {
    let server = TestServer::new().await;
    for (key, value) in [
        ("name", json!("")),
        ("name", json!("x".repeat(256))),
        ("name", json!("a\u{0}b")),
        ("version", json!(null)),
        ("state", json!("Available")),
        ("modes_metadata", json!([])),
        ("roles_metadata", json!({"a": {"tags": "x"}})),
        ("roles_metadata", json!({"a": {"conflicts": "x"}})),
        ("tags_metadata", json!({"a": {"has_primary": 1}})),
        ("volumes_metadata", json!({"volumes": [{}]})),
        ("volumes_roles_mapping", json!({"a": [{"id": "os", "allocate_size": "some"}]})),
        ("attributes_metadata", json!({"editable": 1})),
        ("components_metadata", json!([{"label": "x"}])),
        ("components_metadata", json!([{"name": "a:b", "requires": [{"some_of": {"items": []}}]}])),
        ("components_metadata", json!([{"name": "a:b", "compatible": ["c"]}])),
        ("required_component_types", json!("hypervisor")),
        ("graphs", json!({})),
        ("graphs", json!([{"type": "a"}, {"type": "a"}])),
        ("graphs", json!([{"type": "a b"}])),
        ("graphs", json!([{"type": "a", "model": "cluster", "model_id": 1}])),
        ("graphs", json!([{"type": "a", "tasks": [{"id": "x"}]}])),
        ("deployment_tasks", json!(null)),
        ("deployment_tasks", json!([{"id": "x", "type": "no such type"}])),
    ] {
        let mut body = release();
        body[key] = value;
        server.post("releases/", &body).await.expect_error(400);
    }
    server.post("releases/", &json!([])).await.expect_error(400);
    server.post("releases/", &json!(null)).await.expect_error(400);
    assert_eq!(n_releases(&server).await, 0, "nothing is stored");
    assert_eq!(server.get("graphs").await.expect(200), json!([]));
}

#[tokio::test]
async fn graphs_are_stored_with_the_release() {
    let server = TestServer::new().await;
    let task = |id: &str| json!({"id": id, "type": "stage"});
    let mut body = release();
    body["deployment_tasks"] = json!([task("a"), task("b")]);
    body["graphs"] =
        json!([{"type": "provision", "name": "P", "tasks": [task("c")]}, {"type": "default", "name": "D"}]);
    server.post("releases/", &body).await.expect(201);
    let default = server.get("releases/1/deployment_graphs/default").await.expect(200);
    assert_eq!((default["name"].clone(), default["tasks"].as_array().unwrap().len()), (json!("D"), 2));
    let provision = server.get("releases/1/deployment_graphs/provision").await.expect(200);
    assert_eq!((provision["name"].clone(), provision["tasks"][0]["id"].clone()), (json!("P"), json!("c")));

    body["version"] = json!("newton-10.1");
    body["graphs"] = json!([{"type": "default", "tasks": [task("c")]}]);
    let message = server.post("releases/", &body).await.expect_error(400);
    assert!(message.contains("deployment_tasks"), "{message}");
    body["deployment_tasks"] = json!([]);
    server.post("releases/", &body).await.expect(201);
    assert_eq!(server.get("releases/2/deployment_graphs/default").await.expect(200)["tasks"][0]["id"], "c");

    body = release();
    body["version"] = json!("newton-10.2");
    server.post("releases/", &body).await.expect(201);
    let graphs = server.get("releases/3/deployment_graphs").await.expect(200);
    assert_eq!(graphs.as_array().unwrap().len(), 1);
    assert_eq!((&graphs[0]["type"], &graphs[0]["tasks"]), (&json!("default"), &json!([])));

    let change =
        json!({"deployment_tasks": [task("z")], "graphs": [{"type": "deletion", "tasks": [task("y")]}]});
    server.put("releases/1", &change).await.expect(200);
    let default = server.get("releases/1/deployment_graphs/default").await.expect(200);
    assert_eq!((default["name"].clone(), default["tasks"].as_array().unwrap().len()), (json!("D"), 1));
    assert_eq!(server.get("releases/1/deployment_graphs").await.expect(200).as_array().unwrap().len(), 3);
    let change = json!({"name": "X", "deployment_tasks": [{"id": "q"}]});
    server.put("releases/1", &change).await.expect_error(400);
    assert_eq!(server.get("releases/1").await.expect(200)["name"], "Newton", "the update is atomic");
}

#[tokio::test]
async fn name_and_version_are_unique() {
    let server = TestServer::new().await;
    let expected = "Release with the same name and version already exists";
    server.post("releases/", &release()).await.expect(201);
    assert_eq!(server.post("releases/", &release()).await.expect_error(409), expected);
    let mut other = release();
    other["version"] = json!("newton-10.1");
    let other = server.post("releases/", &other).await.expect(201)["id"].clone();
    assert_eq!(server.put(&format!("releases/{other}"), &release()).await.expect_error(409), expected);
    server.put("releases/1", &release()).await.expect(200);
    assert_eq!(n_releases(&server).await, 2);
}

#[tokio::test]
async fn releases_are_sorted_by_newest_version() {
    let server = TestServer::new().await;
    let versions = ["mitaka-9.0", "newton-10.0", "2015.1.0-7.0", "2014.2.2-6.1", "ocata-11.0", "mitaka-9.0"];
    for (index, version) in versions.iter().enumerate() {
        let body = json!({"name": format!("r{index}"), "version": version, "operating_system": "Ubuntu"});
        server.post("releases", &body).await.expect(201);
    }
    let ids = |body: &Value| -> Vec<i64> {
        body.as_array().unwrap().iter().map(|release| release["id"].as_i64().unwrap()).collect()
    };
    for (query, expected) in [
        ("", &[5, 2, 1, 6, 3, 4][..]),
        ("?limit=2", &[5, 2]),
        ("?limit=2&offset=4", &[3, 4]),
        ("?limit=0", &[]),
        ("?order_by=version", &[4, 3, 1, 6, 2, 5]),
        ("?order_by=-version,-id", &[5, 2, 6, 1, 3, 4]),
        ("?order_by=id", &[1, 2, 3, 4, 5, 6]),
        ("?order_by=-name&limit=1", &[6]),
    ] {
        assert_eq!(ids(&server.get(&format!("releases/{query}")).await.expect(200)), expected, "{query}");
    }
    assert_eq!(server.get("releases/?limit=2&offset=1").await.header("content-range"), "objects 1-2/6");
    server.get("releases/?offset=6").await.expect_error(416);
    server.get("releases/?limit=x").await.expect_error(400);
    server.get("releases/?limit=-1").await.expect_error(400);
    let message = server.get("releases/?order_by=size").await.expect_error(400);
    assert!(message.contains("operating_system"), "{message}");
}

#[tokio::test]
async fn extra_fields_are_stored() {
    let server = TestServer::new().await;
    let mut body = release();
    body["x-mine"] = json!({"a": [1, null]});
    body["modes"] = json!(["ha_compact"]);
    body["is_deployable"] = json!(false);
    body["id"] = json!(77);
    let created = server.post("releases/", &body).await.expect(201);
    assert_eq!(
        (&created["id"], &created["x-mine"], &created["is_deployable"]),
        (&json!(1), &body["x-mine"], &json!(false))
    );
    assert_eq!(created.get("modes"), None, "`modes` is stored but not returned");
    let changed = server.put("releases/1", &json!({"y": 1})).await.expect(200);
    assert_eq!((&changed["x-mine"], &changed["y"]), (&body["x-mine"], &json!(1)));
    let stored = server.app.store.read().await.unwrap().release_get(ReleaseId(1)).await.unwrap().unwrap();
    assert_eq!(stored.body.extra.keys().collect::<Vec<_>>(), ["x-mine", "modes", "y"]);
}

#[tokio::test]
async fn stale_etag_is_refused() {
    let server = TestServer::new().await;
    server.post("releases/", &release()).await.expect(201);
    let if_match_request = |method: &str, path: &str, tag: &str, body: &str| {
        server.request(method, path).header("if-match", tag).body(Body::from(body.to_owned())).unwrap()
    };
    let reply = server.send(if_match_request("PUT", "releases/1", "\"1\"", "{\"name\": \"A\"}")).await;
    assert_eq!(reply.header("etag"), "\"2\"");
    let attributes = "{\"editable\": {}, \"generated\": {}}";
    for (method, path, body) in [
        ("PUT", "releases/1", "{\"name\": \"B\"}"),
        ("PATCH", "releases/1", "{\"name\": \"B\"}"),
        ("PUT", "releases/1/networks", "{}"),
        ("PUT", "releases/1/attributes_metadata", attributes),
        ("DELETE", "releases/1", ""),
    ] {
        server.send(if_match_request(method, path, "\"1\"", body)).await.expect_error(412);
        server.send(if_match_request(method, path, "1", body)).await.expect_error(400);
    }
    assert_eq!(server.get("releases/1").await.expect(200)["name"], "A");
    server.send(if_match_request("DELETE", "releases/1", "\"2\"", "")).await.expect(204);
}

#[tokio::test]
async fn yaml_release_is_accepted() {
    let server = TestServer::new().await;
    let text = "name: Newton\nversion: n-1.0\noperating_system: Ubuntu\nroles_metadata:\n  a: {name: A}\n";
    let post = |text: &str| {
        let request = server.request("POST", "releases").header("content-type", "application/x-yaml");
        request.body(Body::from(text.to_owned())).unwrap()
    };
    assert_eq!(server.send(post(text)).await.expect(201)["roles_metadata"]["a"]["name"], "A");
    let message = server.send(post("name: N\nversion: 10.0\noperating_system: U\n")).await.expect_error(400);
    assert!(message.contains("version") && message.contains("line 2"), "{message}");
    let request = server.request("GET", "releases/1").header("accept", "application/x-yaml");
    let reply = server.send(request.body(Body::empty()).unwrap()).await;
    assert!(reply.body.as_str().unwrap().contains("name: Newton"));
}

#[tokio::test]
async fn release_with_clusters_and_assigned_roles_cannot_be_deleted() {
    let server = TestServer::new().await;
    let mut body = release();
    body["roles_metadata"] =
        json!({"a": {"name": "A"}, "b": {"name": "B"}, "c": {"name": "C"}, "d": {"name": "D"}});
    server.post("releases/", &body).await.expect(201);
    cluster_with_roles(&server, 1, &["a"], &["b"]).await;
    assert_eq!(
        server.delete("releases/1").await.expect_error(400),
        "Can't delete release with clusters assigned"
    );
    let message =
        server.put("releases/1", &json!({"name": "X", "roles_metadata": {"c": {}}})).await.expect_error(400);
    assert_eq!(message, "Cannot delete roles already assigned to nodes: a, b");
    assert_eq!(server.get("releases/1").await.expect(200)["name"], "Newton");
    let roles = json!({"a": {"name": "A2"}, "b": {}, "e": {}});
    let changed = server.put("releases/1", &json!({"roles_metadata": roles})).await.expect(200);
    assert_eq!(changed["roles_metadata"], roles);
}

#[tokio::test]
async fn settings_and_networks_have_separate_endpoints() {
    let server = TestServer::new().await;
    let mut body = release();
    body["networks_metadata"] = json!({"neutron": {"networks": []}});
    server.post("releases/", &body).await.expect(201);
    // Clients edit the list of repositories in place, so the response always contains it.
    let default_settings =
        json!({"repo_setup": {"repos": {"type": "custom_repo_configuration", "value": []}}});
    let empty = json!({"editable": default_settings, "generated": {}});
    assert_eq!(server.get("releases/1/attributes_metadata").await.expect(200), empty);
    assert_eq!(server.get("releases/1").await.expect(200)["attributes_metadata"]["editable"], json!({}));
    for (section, expected) in [
        (json!({"other": 1}), json!({"other": 1, "repos": default_settings["repo_setup"]["repos"]})),
        (json!({"repos": {"value": [1]}}), json!({"repos": {"value": [1]}})),
        (json!("mine"), json!("mine")),
    ] {
        let stored = json!({"editable": {"repo_setup": section}, "generated": {}});
        assert_eq!(server.put("releases/1/attributes_metadata", &stored).await.expect(200), stored);
        let response = server.get("releases/1/attributes_metadata").await.expect(200);
        assert_eq!(response["editable"]["repo_setup"], expected);
    }
    let settings = json!({"editable": {"repo_setup": {"repos": {"value": []}}}, "generated": {"a": 1}});
    assert_eq!(server.put("releases/1/attributes_metadata", &settings).await.expect(200), settings);
    assert_eq!(server.get("releases/1/attributes_metadata/").await.expect(200), settings);
    for body in [
        json!({"editable": {}}),
        json!({"generated": {}}),
        json!({"editable": [], "generated": {}}),
        json!([]),
    ] {
        server.put("releases/1/attributes_metadata", &body).await.expect_error(400);
    }
    let mut unknown = settings.clone();
    unknown["other"] = json!(1);
    server.put("releases/1/attributes_metadata", &unknown).await.expect_error(400);

    assert_eq!(server.get("releases/1/networks/").await.expect(200), json!({"neutron": {"networks": []}}));
    assert_eq!(server.put("releases/1/networks/", &json!({"x": {}})).await.expect(200), json!({"x": {}}));
    server.put("releases/1/networks/", &json!([])).await.expect_error(400);
    server.post("releases/1/networks/", &json!({})).await.expect_error(405);
    server.delete("releases/1/networks/").await.expect_error(405);
    assert_eq!(server.get("releases/1/networks").await.expect(200), json!({"x": {}}));
    for path in ["attributes_metadata", "networks", "components"] {
        assert_eq!(server.get(&format!("releases/9/{path}")).await.expect_error(404), "Release not found");
    }
}

#[tokio::test]
async fn components_list_mutual_incompatibilities() {
    let server = TestServer::new().await;
    let mut body = release();
    body["components_metadata"] = json!([
        {"name": "hypervisor:vmware", "label": "vCenter", "bind": ["cluster:x"]},
        {"name": "network:tun", "incompatible": [{"name": "hypervisor:*"}]},
    ]);
    server.post("releases/", &body).await.expect(201);
    let expected = json!([
        {"name": "hypervisor:vmware", "label": "vCenter", "weight": 100,
         "incompatible": [{"name": "network:tun", "message": "Not compatible with network:tun"}]},
        {"name": "network:tun", "label": "network:tun", "weight": 100, "incompatible": [{"name": "hypervisor:*"}]},
    ]);
    assert_eq!(server.get("releases/1/components").await.expect(200), expected);
    assert_eq!(
        server.get("releases/1").await.expect(200)["components_metadata"],
        body["components_metadata"]
    );
}

#[tokio::test]
async fn invalid_ids_are_not_found() {
    let server = TestServer::new().await;
    for id in ["0", "-1", "x", "99999999999999999999", "1.5", "%00"] {
        assert_eq!(
            server.get(&format!("releases/{id}")).await.expect_error(404),
            "Release not found",
            "{id}"
        );
        server.put(&format!("releases/{id}"), &json!({})).await.expect_error(404);
        server.delete(&format!("releases/{id}")).await.expect_error(404);
    }
}

/// The releases of the predecessor from the shared data, which may be absent.
#[tokio::test]
async fn real_releases_are_accepted() {
    let Some(folder) = stoker_testenv::shared_folder("releases") else { return };
    let server = TestServer::new().await;
    let mut n_files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let request = server.request("POST", "releases").header("content-type", "application/x-yaml");
        let created = server.send(request.body(Body::from(text)).unwrap()).await.expect(201);
        let id = created["id"].as_i64().unwrap();
        let roles = server.get(&format!("releases/{id}/roles")).await.expect(200);
        let compute = roles.as_array().unwrap().iter().find(|role| role["name"] == "compute").unwrap();
        assert_eq!(compute["volumes_roles_mapping"][0], json!({"allocate_size": "min", "id": "os"}));
        let components = server.get(&format!("releases/{id}/components")).await.expect(200);
        assert!(components.as_array().unwrap().iter().all(|component| component.get("bind").is_none()));
        n_files += 1;
    }
    assert_eq!(n_releases(&server).await, n_files);
    let newest = server.get("releases/?limit=1").await.expect(200);
    assert_eq!(newest[0]["version"], "ocata-11.0");
}

/// A key that resembles a known one is rejected with a suggestion; other keys are stored.
#[tokio::test]
async fn misspelt_keys_are_rejected() {
    let server = TestServer::new().await;
    let body = |more: serde_json::Value| {
        let mut body = json!({"name": "a", "version": "a-1", "operating_system": "Ubuntu"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    for (more, known) in [
        (json!({"attribute_metadata": {}}), "attributes_metadata"),
        (json!({"component_metadata": []}), "components_metadata"),
        (json!({"components_metadata": [{"name": "network:a", "wieght": 1}]}), "weight"),
        (
            json!({"components_metadata": [{"name": "network:a", "requires": [{"any_of": {"items": [], "mesage": "x"}}]}]}),
            "message",
        ),
    ] {
        let reply = server.post("releases", &body(more.clone())).await.expect(400);
        let errors = reply["errors"].to_string();
        assert!(errors.contains(&format!("did you mean `{known}`?")), "{more}: {errors}");
    }
    for more in [
        json!({"components_metadata": [{"name": "network:a", "weight": "heavy"}]}),
        json!({"components_metadata": [{"name": "network:a", "default": "yes"}]}),
    ] {
        server.post("releases", &body(more)).await.expect(400);
    }
    let created = server.post("releases", &body(json!({"site": "north", "modes": []}))).await.expect(201);
    assert_eq!(created["site"], "north");
    let plugin = json!({"name": "p", "title": "P", "version": "1.0.0", "package_version": "4.0.0", "fuel_version": [], "releases": [], "roles_metadat": {}});
    let error = server.post("plugins", &plugin).await.expect(400);
    assert!(error.to_string().contains("did you mean `roles_metadata`?"), "{error}");
}
