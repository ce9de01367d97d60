//! `/{releases|clusters}/{id}/roles/` and `…/tags/`

use axum::body::Body;
use serde_json::{Value, json};
use stoker_model::ReleaseId;

use crate::beginnings::create_release;
use crate::fixtures::{begin_write, cluster_with_roles, commit, set_plugin_enabled};
use crate::support::TestServer;

const OWNERS: [&str; 2] = ["releases/1", "clusters/1"];

/// Creates release 1 with a role, a tag and volumes, and its cluster 1 with a node that has the role `used`
/// and the pending role `wanted`.
async fn server_with_owners() -> TestServer {
    let server = TestServer::new().await;
    let release = json!({
        "name": "R", "version": "a-1.0", "operating_system": "Ubuntu",
        "roles_metadata": {"compute": {"name": "Compute", "description": "d", "tags": ["compute"]}},
        "tags_metadata": {"compute": {"has_primary": false}},
        "volumes_metadata": {"volumes": [{"id": "os"}, {"id": "vm"}],
                             "volumes_roles_mapping": {"compute": [{"id": "os", "allocate_size": "min"}]}},
    });
    server.post("releases", &release).await.expect(201);
    cluster_with_roles(&server, 1, &["used"], &["wanted"]).await;
    server
}

/// Creates plugin 1 and enables it in cluster 1.
async fn enable_plugin(server: &TestServer) {
    let plugin = json!({
        "name": "p", "title": "P", "version": "1.0.0", "package_version": "5.0.0", "fuel_version": [],
        "releases": [{"os": "ubuntu", "version": "a-1.0"}],
        "roles_metadata": {"extra": {"name": "Extra", "description": "d"}},
        "tags_metadata": {"plugged": {"has_primary": true}},
        "volumes_metadata": {"volumes": [{"id": "data"}],
                             "volumes_roles_mapping": {"extra": [{"id": "data", "allocate_size": "all"}]}},
    });
    server.post("plugins", &plugin).await.expect(201);
    set_plugin_enabled(server, 1, true).await;
}

fn role(name: &str) -> Value {
    json!({
        "name": name,
        "meta": {"name": "My role", "description": "d", "tags": ["compute"], "conflicts": ["x"], "weight": 10},
        "volumes_roles_mapping": [{"id": "vm", "allocate_size": "all"}],
    })
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn role_is_created_read_updated_and_deleted() {
    let server = server_with_owners().await;
    for owner in OWNERS {
        let my_role = role("mine");
        assert_eq!(server.post(&format!("{owner}/roles/"), &my_role).await.expect(201), my_role);
        let path = format!("{owner}/roles/mine/");
        assert_eq!(server.get(&path).await.expect(200), my_role);
        let list = server.get(&format!("{owner}/roles/")).await.expect(200);
        assert_eq!(names(&list), ["compute", "mine"]);
        assert_eq!(list[0]["volumes_roles_mapping"], json!([{"id": "os", "allocate_size": "min"}]));
        let meta = json!({"name": "Other", "description": "", "conflicts": "*"});
        let changed = server.put(&path, &json!({"name": "mine", "meta": meta})).await.expect(200);
        assert_eq!(
            (&changed["meta"], &changed["volumes_roles_mapping"]),
            (&meta, &my_role["volumes_roles_mapping"])
        );
        let changed = server.put(&path, &json!({"volumes_roles_mapping": []})).await.expect(200);
        assert_eq!((&changed["meta"], &changed["volumes_roles_mapping"]), (&meta, &json!([])));
        let reply = server.delete(&path).await;
        assert_eq!((reply.status, reply.body), (204, Value::Null));
        assert_eq!(names(&server.get(&format!("{owner}/roles/")).await.expect(200)), ["compute"]);
        let message = format!("Role 'mine' is not found for the {}", owner.replace("s/", " "));
        assert_eq!(server.get(&path).await.expect_error(404), message);
        assert_eq!(server.put(&path, &json!({})).await.expect_error(404), message);
        assert_eq!(server.delete(&path).await.expect_error(404), message);
    }
}

#[tokio::test]
async fn cluster_lists_inherited_roles_and_tags_and_edits_its_own() {
    let server = server_with_owners().await;
    enable_plugin(&server).await;
    server.post("clusters/1/roles", &role("mine")).await.expect(201);
    server.post("clusters/1/tags", &json!({"name": "own", "meta": {}})).await.expect(201);
    let roles = server.get("clusters/1/roles").await.expect(200);
    assert_eq!(names(&roles), ["compute", "mine", "extra"]);
    assert_eq!(roles[2]["volumes_roles_mapping"], json!([{"id": "data", "allocate_size": "all"}]));
    assert_eq!(names(&server.get("clusters/1/tags").await.expect(200)), ["compute", "own", "plugged"]);
    assert_eq!(names(&server.get("releases/1/roles").await.expect(200)), ["compute"]);
    for name in ["compute", "extra"] {
        let message = format!("Role '{name}' is not found for the cluster 1");
        assert_eq!(server.get(&format!("clusters/1/roles/{name}")).await.expect_error(404), message);
        assert_eq!(server.delete(&format!("clusters/1/roles/{name}")).await.expect_error(404), message);
        server.post("clusters/1/roles", &role(name)).await.expect_error(409);
    }
    let message = server.delete("clusters/1/tags/plugged").await.expect_error(404);
    assert_eq!(message, "Tag 'plugged' is not found for the cluster 1");
    // Tags and volumes of plugins may be used by roles of the cluster, not by roles of the release.
    let mut with_plugin = role("other");
    with_plugin["meta"]["tags"] = json!(["plugged", "own"]);
    with_plugin["volumes_roles_mapping"] = json!([{"id": "data", "allocate_size": "min"}]);
    server.post("clusters/1/roles", &with_plugin).await.expect(201);
    let message = server.post("releases/1/roles", &with_plugin).await.expect_error(400);
    assert_eq!(message.lines().count(), 2, "{message}");
}

#[tokio::test]
async fn invalid_role_is_refused() {
    let server = server_with_owners().await;
    for owner in OWNERS {
        let path = format!("{owner}/roles/");
        for (key, value) in [
            ("name", json!("")),
            ("name", json!("a/b")),
            ("name", json!(null)),
            ("meta", json!([])),
            ("meta", json!({"name": "x"})),
            ("meta", json!({"description": "x"})),
            ("meta", json!({"name": "x", "description": 5})),
            ("meta", json!({"name": "x", "description": "", "tags": "compute"})),
            ("meta", json!({"name": "x", "description": "", "conflicts": "all"})),
            ("meta", json!({"name": "x", "description": "", "limits": 1})),
            ("volumes_roles_mapping", json!({})),
            ("volumes_roles_mapping", json!([{"id": "os"}])),
            ("volumes_roles_mapping", json!([{"id": "os", "allocate_size": "some"}])),
            ("volumes_roles_mapping", json!([{"id": "os", "allocate_size": "all", "x": 1}])),
            ("other", json!(1)),
        ] {
            let mut body = role("mine");
            body[key] = value;
            server.post(&path, &body).await.expect_error(400);
        }
        let mut body = role("mine");
        body["meta"]["tags"] = json!(["compute", "a", "b"]);
        let message = server.post(&path, &body).await.expect_error(400);
        assert_eq!(message, "Role 'mine' contains non-existent tags: a, b");
        body = role("mine");
        body["volumes_roles_mapping"][0]["id"] = json!("disk");
        let message = server.post(&path, &body).await.expect_error(400);
        assert!(
            message.starts_with("Wrong data in volumes_roles_mapping. Volumes with ids disk"),
            "{message}"
        );
        let n_roles = names(&server.get(&path).await.expect(200)).len();
        assert_eq!(n_roles, 1);

        server.post(&path, &role("mine")).await.expect(201);
        let message = server.post(&path, &role("mine")).await.expect_error(409);
        assert!(message.contains("already exists"), "{message}");
        let path = format!("{owner}/roles/mine");
        server.put(&path, &role("other")).await.expect_error(400);
        server
            .put(&path, &json!({"meta": {"name": "x", "description": "", "tags": ["a"]}}))
            .await
            .expect_error(400);
        server
            .put(&path, &json!({"volumes_roles_mapping": [{"id": "a", "allocate_size": "all"}]}))
            .await
            .expect_error(400);
        assert_eq!(server.get(&path).await.expect(200), role("mine"), "the role is unchanged");
        server.delete(&path).await.expect(204);
    }
    for (path, message) in [("releases/9", "Release not found"), ("clusters/9", "Cluster not found")] {
        for resource in ["roles", "tags", "roles/x", "tags/x"] {
            assert_eq!(server.get(&format!("{path}/{resource}")).await.expect_error(404), message);
        }
        assert_eq!(server.post(&format!("{path}/roles"), &role("x")).await.expect_error(404), message);
    }
}

#[tokio::test]
async fn assigned_role_cannot_be_deleted() {
    let server = server_with_owners().await;
    for owner in OWNERS {
        for name in ["used", "wanted", "free"] {
            server.post(&format!("{owner}/roles"), &role(name)).await.expect(201);
        }
        for name in ["used", "wanted"] {
            let message = server.delete(&format!("{owner}/roles/{name}")).await.expect_error(400);
            assert_eq!(message, format!("Cannot delete roles already assigned to nodes: {name}"));
            server.get(&format!("{owner}/roles/{name}")).await.expect(200);
        }
        server.delete(&format!("{owner}/roles/free")).await.expect(204);
        // Remove the roles so that the next owner can use their names.
        let roles = json!({"compute": {"name": "Compute", "description": "d", "tags": ["compute"]}});
        let mut transaction = begin_write(&server).await;
        let mut release = transaction.release_get(ReleaseId(1)).await.unwrap().unwrap();
        release.body.roles_metadata = roles.as_object().unwrap().clone();
        transaction.release_update(&release).await.unwrap();
        commit(transaction).await;
    }
}

#[tokio::test]
async fn tag_is_created_read_updated_and_deleted() {
    let server = server_with_owners().await;
    for owner in OWNERS {
        let path = format!("{owner}/tags/");
        let tag = json!({"name": "db", "meta": {"has_primary": true, "x": 1}});
        assert_eq!(server.post(&path, &tag).await.expect(201), tag);
        assert!(server.post(&path, &tag).await.expect_error(409).contains("already exists"));
        server.post(&path, &json!({"name": "compute", "meta": {}})).await.expect_error(409);
        assert_eq!(names(&server.get(&path).await.expect(200)), ["compute", "db"]);
        let tag_path = format!("{owner}/tags/db");
        assert_eq!(server.get(&tag_path).await.expect(200), tag);
        let changed = server.put(&tag_path, &json!({"meta": {"has_primary": false}})).await.expect(200);
        assert_eq!(changed, json!({"name": "db", "meta": {"has_primary": false}}));
        for body in [
            json!({"name": "other"}),
            json!({"meta": {"has_primary": "yes"}}),
            json!({"meta": 1}),
            json!({"x": 1}),
            json!([]),
        ] {
            server.put(&tag_path, &body).await.expect_error(400);
            server.post(&path, &body).await.expect_error(400);
        }
        let mut user = role("mine");
        user["meta"]["tags"] = json!(["db"]);
        server.post(&format!("{owner}/roles"), &user).await.expect(201);
        assert_eq!(server.delete(&tag_path).await.expect_error(400), "Tag 'db' is in use by the roles mine");
        server.delete(&format!("{owner}/roles/mine")).await.expect(204);
        server.delete(&tag_path).await.expect(204);
        let message = format!("Tag 'db' is not found for the {}", owner.replace("s/", " "));
        assert_eq!(server.delete(&tag_path).await.expect_error(404), message);
    }
    let mut user = role("mine");
    user["meta"]["tags"] = json!(["compute"]);
    server.put("releases/1", &json!({"roles_metadata": {}})).await.expect(200);
    server.post("clusters/1/roles", &user).await.expect(201);
    let message = server.delete("releases/1/tags/compute").await.expect_error(400);
    assert_eq!(message, "Tag 'compute' is in use by the roles mine", "roles of the release's clusters count");
}

#[tokio::test]
async fn stale_etag_is_refused() {
    let server = server_with_owners().await;
    for owner in OWNERS {
        server.post(&format!("{owner}/roles"), &role("mine")).await.expect(201);
        server.post(&format!("{owner}/tags"), &json!({"name": "db", "meta": {}})).await.expect(201);
        for path in ["roles/mine", "tags/db"] {
            let path = format!("{owner}/{path}");
            let tag = server.get(&path).await.header("etag").to_owned();
            for method in ["PUT", "DELETE"] {
                let request = server.request(method, &path).header("if-match", "\"1\"");
                server.send(request.body(Body::from("{}")).unwrap()).await.expect_error(412);
            }
            let request = server.request("DELETE", &path).header("if-match", tag);
            server.send(request.body(Body::empty()).unwrap()).await.expect(204);
        }
    }
}

#[tokio::test]
async fn member_cannot_read_roles_of_other_tenants() {
    let server = server_with_owners().await;
    server.post("tenants", &json!({"name": "blue"})).await.expect(201);
    let user = json!({"name": "ada", "password": "pass word", "tenant": "blue", "roles": ["member"]});
    server.post("users", &user).await.expect(201);
    let token = server.log_in("ada", "pass word").await;
    let as_ada = |method: &str, path: &str, body: &str| {
        let mut request = server.request(method, path).body(Body::from(body.to_owned())).unwrap();
        request.headers_mut().insert("x-auth-token", token.parse().unwrap());
        request
    };
    for path in ["clusters/1/roles", "clusters/1/tags", "clusters/1/roles/x", "sequences?cluster=1"] {
        assert_eq!(server.send(as_ada("GET", path, "")).await.expect_error(404), "Cluster not found");
    }
    server.send(as_ada("GET", "releases/1/roles", "")).await.expect(200);
    server.send(as_ada("GET", "releases", "")).await.expect(200);
    server.send(as_ada("GET", "plugins", "")).await.expect(200);
    for (method, path) in [
        ("POST", "releases"),
        ("PUT", "releases/1"),
        ("DELETE", "releases/1"),
        ("POST", "releases/1/roles"),
        ("POST", "clusters/1/tags"),
        ("POST", "sequences"),
        ("POST", "plugins"),
    ] {
        server.send(as_ada(method, path, "{}")).await.expect_error(403);
    }
}

#[tokio::test]
async fn misspelled_metadata_is_refused() {
    let server = TestServer::new().await;
    create_release(&server).await;
    for (path, meta, expected) in [
        (
            "releases/1/roles",
            json!({"name": "Web", "description": "w", "limts": {"min": 1}}),
            "did you mean `limits`?",
        ),
        ("releases/1/roles", json!({"name": "Web", "conflcts": ["db"]}), "did you mean `conflicts`?"),
        ("releases/1/tags", json!({"has_primry": true}), "did you mean `has_primary`?"),
    ] {
        let message = server.post(path, &json!({"name": "web", "meta": meta})).await.expect_error(400);
        assert!(message.contains(expected), "{message}");
    }
}
