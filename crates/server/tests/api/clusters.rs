use serde_json::json;
use stoker_model::{ClusterId, NodeStatus, ReleaseState, RunName, RunStatus};

use crate::beginnings::{
    create_cluster, create_cluster_of, create_node, create_release, create_release_from, create_run, id,
    release_body, send_with_header,
};
use crate::fixtures::{begin_write, commit};
use crate::support::TestServer;

#[tokio::test]
async fn cluster_is_created_from_legacy_client_request() {
    let server = TestServer::new().await;
    let release_id = create_release(&server).await;
    let body = json!({"name": "demo", "release_id": release_id, "net_segment_type": "vlan", "nodes": [], "tasks": []});
    let created = server.post("clusters/", &body).await.expect(201);
    for (field, expected) in [
        ("name", json!("demo")),
        ("status", json!("new")),
        ("release_id", json!(release_id)),
        ("mode", json!("ha_compact")),
        ("net_provider", json!("neutron")),
        ("changes", json!([])),
        ("is_customized", json!(false)),
        ("fuel_version", json!("10.0")),
        ("is_locked", json!(false)),
        ("components", json!([])),
        ("ui_settings", json!({})),
        ("tenant", json!("admin")),
        ("merge_order", json!(null)),
        ("merge_mode", json!(null)),
    ] {
        assert_eq!(created[field], expected, "{field}");
    }
    let path = format!("clusters/{}/", id(&created));
    assert_eq!(server.get(&path).await.expect(200), created);
    assert_eq!(server.get("clusters").await.expect(200), json!([created]));
    let graphs = server.get(&format!("{path}deployment_graphs/")).await.expect(200);
    assert_eq!((&graphs[0]["type"], &graphs[0]["tasks"]), (&json!("default"), &json!([])));
    assert_eq!(server.get(&format!("{path}extensions")).await.expect(200), json!(["volume_manager"]));
}

#[tokio::test]
async fn cluster_is_created_with_all_optional_fields() {
    let server = TestServer::new().await;
    let mut with_components = release_body();
    with_components.components_metadata = vec![json!({"name": "hypervisor:qemu"})];
    let release_id = create_release_from(&server, with_components).await;
    let node_id = create_node(&server, 1).await;
    server.create_user("ada", "blue", "member").await;
    let body = json!({
        "name": "demo", "release": release_id.to_string(), "mode": "multinode", "components": ["hypervisor:qemu"],
        "tenant": "blue", "merge_order": "release,plugins,cluster", "merge_mode": "replace", "nodes": [node_id],
        "ui_settings": {"sort": 1},
    });
    let created = server.post("clusters", &body).await.expect(201);
    assert_eq!(created["tenant"], "blue");
    for field in ["mode", "components", "merge_order", "merge_mode", "ui_settings"] {
        assert_eq!(created[field], body[field], "{field}");
    }
    let node = server.get(&format!("nodes/{node_id}")).await.expect(200);
    assert_eq!((&node["cluster"], &node["pending_addition"]), (&created["id"], &json!(true)));
}

#[tokio::test]
async fn invalid_cluster_is_refused_and_not_stored() {
    let server = TestServer::new().await;
    let release_id = create_release(&server).await;
    let unavailable = release_body();
    let unavailable = create_release_from(
        &server,
        stoker_model::NewRelease {
            version: "x-1".to_owned(),
            state: ReleaseState::Unavailable,
            ..unavailable
        },
    )
    .await;
    for (body, status, message) in [
        (json!({"name": "a"}), 400, "Release ID is required"),
        (json!({"name": "a", "release_id": null}), 400, "Release ID is required"),
        (json!({"name": "a", "release_id": 99}), 400, "Invalid release ID"),
        (json!({"name": "a", "release_id": "x"}), 400, "Invalid release ID"),
        (json!({"name": "a", "release_id": -1}), 400, "Invalid release ID"),
        (json!({"name": "a", "release_id": 1, "release": 2}), 400, "`release_id` and `release` differ"),
        (json!({"name": "a", "release_id": unavailable}), 403, "Release with ID '2' is not deployable."),
        (json!({"release_id": release_id}), 400, "`name` is missing"),
        (json!({"name": "", "release_id": release_id}), 400, "must have 1 to 255 characters"),
        (
            json!({"name": "a", "release_id": release_id, "mode": "ha_full"}),
            400,
            "Cannot deploy in ha_full mode",
        ),
        (json!({"name": "a", "release_id": release_id, "mode": "x"}), 400, "must be `ha_compact`"),
        (
            json!({"name": "a", "release_id": release_id, "tenant": "nobody"}),
            400,
            "tenant `nobody` does not exist",
        ),
        (
            json!({"name": "a", "release_id": release_id, "nodes": [7]}),
            400,
            "Nodes with ids 7 were not found.",
        ),
        (
            json!({"name": "a", "release_id": release_id, "merge_order": "x"}),
            400,
            "must be `release,cluster,plugins`",
        ),
        (json!({"name": "a\u{0}", "release_id": release_id}), 400, "NUL"),
        (json!({"nmae": "a", "release_id": release_id}), 400, "did you mean `name`?"),
        (json!([]), 400, "must be a map"),
        (json!(null), 400, "must be a map"),
    ] {
        let error = server.post("clusters/", &body).await.expect_error(status);
        assert!(error.contains(message), "{body}: {error}");
    }
    assert_eq!(server.get("clusters").await.expect(200), json!([]));
    create_cluster_of(&server, release_id, "demo").await;
    let message =
        server.post("clusters", &json!({"name": "demo", "release": release_id})).await.expect_error(409);
    assert_eq!(message, "a cluster with this name already exists");
}

#[tokio::test]
async fn yaml_body_and_yaml_response_are_supported() {
    let server = TestServer::new().await;
    let release_id = create_release(&server).await;
    let yaml = format!("name: from yaml\nrelease_id: {release_id}\n");
    let header = ("content-type", "application/x-yaml");
    let created = send_with_header(&server, ("POST", "clusters"), header, &yaml).await.expect(201);
    assert_eq!(created["name"], "from yaml");
    let yaml_cluster = send_with_header(&server, ("GET", "clusters/1"), ("accept", "application/x-yaml"), "")
        .await
        .expect(200);
    assert!(yaml_cluster.as_str().unwrap().contains("name: from yaml\n"), "{yaml_cluster}");
}

#[tokio::test]
async fn cluster_update_is_partial() {
    let server = TestServer::new().await;
    let cluster_id = create_cluster(&server).await;
    let path = format!("clusters/{cluster_id}/");
    let node_id = create_node(&server, 1).await;
    let changed = server
        .put(&path, &json!({"name": "other", "merge_mode": "replace", "nodes": [node_id], "components": []}))
        .await
        .expect(200);
    assert_eq!((&changed["name"], &changed["merge_mode"]), (&json!("other"), &json!("replace")));
    let reset = server.patch(&path, &json!({"merge_mode": null, "ui_settings": {"x": 1}})).await.expect(200);
    assert_eq!((&reset["name"], &reset["merge_mode"]), (&json!("other"), &json!(null)));
    // A GET response is a valid PUT body.
    let updated = server.put(&path, &reset).await.expect(200);
    assert_eq!(updated["name"], "other");
    assert_eq!(server.get(&format!("nodes/{node_id}")).await.expect(200)["cluster"], cluster_id);
    server.put(&path, &json!({"nodes": []})).await.expect(200);
    assert_eq!(server.get(&format!("nodes/{node_id}")).await.expect(200)["cluster"], json!(null));
    server.put(&path, &json!({})).await.expect(200);
}

#[tokio::test]
async fn invalid_cluster_update_is_refused() {
    let server = TestServer::new().await;
    let cluster_id = create_cluster(&server).await;
    create_cluster_of(&server, 1, "taken").await;
    let path = format!("clusters/{cluster_id}");
    for (body, status, message) in [
        (json!({"name": "taken"}), 409, "a cluster with this name already exists"),
        (json!({"name": null}), 400, "must be text"),
        (json!({"release_id": 7}), 400, "Invalid release ID"),
        (json!({"components": ["hypervisor:qemu"]}), 400, "cannot be changed after it is created"),
        (json!({"mode": "ha_full"}), 400, "Cannot deploy in ha_full mode"),
        (json!({"nodes": [9, 8]}), 400, "Nodes with ids 9, 8 were not found."),
        (json!({"colour": 1}), 400, "unknown key"),
    ] {
        let error = server.put(&path, &body).await.expect_error(status);
        assert!(error.contains(message), "{body}: {error}");
    }
    for path in ["clusters/99", "clusters/0", "clusters/x", "clusters/-1", "clusters/99999999999999999999"] {
        assert_eq!(server.put(path, &json!({})).await.expect_error(404), "Cluster not found");
        assert_eq!(server.get(path).await.expect_error(404), "Cluster not found");
        assert_eq!(server.delete(path).await.expect_error(404), "Cluster not found");
    }
    // An update is atomic: an unknown node also prevents the rename.
    server.put(&path, &json!({"name": "new", "nodes": [9]})).await.expect_error(400);
    assert_eq!(server.get(&path).await.expect(200)["name"], "demo");
}

#[tokio::test]
async fn stale_etag_is_refused() {
    let server = TestServer::new().await;
    let path = format!("clusters/{}", create_cluster(&server).await);
    let tag = server.get(&path).await.header("etag").to_owned();
    let body = r#"{"name": "x"}"#;
    send_with_header(&server, ("PUT", &path), ("if-match", &tag), body).await.expect(200);
    send_with_header(&server, ("PUT", &path), ("if-match", &tag), body).await.expect_error(412);
    send_with_header(&server, ("DELETE", &path), ("if-match", &tag), "").await.expect_error(412);
    send_with_header(&server, ("PUT", &path), ("if-match", "nonsense"), body).await.expect_error(400);
}

#[tokio::test]
async fn cluster_deletion_releases_its_nodes() {
    let server = TestServer::new().await;
    let cluster_id = create_cluster(&server).await;
    let node_id = create_node(&server, 1).await;
    let path = format!("clusters/{cluster_id}");
    server
        .post(&format!("{path}/assignment"), &json!([{"id": node_id, "roles": ["compute"]}]))
        .await
        .expect(200);
    server.put(&format!("nodes/{node_id}"), &json!({"status": "ready"})).await.expect(200);
    let run = server.delete(&path).await.expect(202);
    assert_eq!((&run["name"], &run["status"]), (&json!("cluster_deletion"), &json!("ready")));
    assert_eq!((&run["progress"], &run["cluster"]), (&json!(100), &json!(null)));
    let mut details = server.get(&format!("transactions/{}/", id(&run))).await.expect(200);
    assert_eq!(details["effects"].take(), json!({"changed": 0, "unchanged": 0, "unknown": 0}));
    assert_eq!(details, run);
    server.get(&path).await.expect_error(404);
    assert_eq!(server.get("graphs").await.expect(200), json!([]));
    let node = server.get(&format!("nodes/{node_id}")).await.expect(200);
    assert_eq!((&node["cluster"], &node["status"]), (&json!(null), &json!(NodeStatus::Discover.as_str())));
    assert_eq!((&node["roles"], &node["pending_roles"]), (&json!([]), &json!([])));
    assert_eq!(node["pending_addition"], false);
    // The name can be reused.
    create_cluster_of(&server, 1, "demo").await;
}

#[tokio::test]
async fn cluster_with_active_run_is_deleted_only_with_force() {
    let server = TestServer::new().await;
    let cluster_id = create_cluster(&server).await;
    let running = create_run(&server, Some(cluster_id), RunName::Deploy, RunStatus::Running).await;
    let path = format!("clusters/{cluster_id}");
    let message = server.delete(&path).await.expect_error(400);
    assert!(message.contains("run 1 (deploy) is running"), "{message}");
    server.delete(&format!("{path}?force=maybe")).await.expect_error(400);
    server.delete(&format!("{path}?force=1")).await.expect(202);
    let ended = server.get(&format!("transactions/{}", running.id)).await.expect(200);
    assert_eq!((&ended["status"], &ended["cluster"]), (&json!("error"), &json!(null)));
    assert!(ended["time_end"].is_string());
}

#[tokio::test]
async fn cluster_list_is_paginated() {
    let server = TestServer::new().await;
    let release_id = create_release(&server).await;
    for name in ["b", "c", "a"] {
        create_cluster_of(&server, release_id, name).await;
    }
    let reply = server.get("clusters?order_by=name&limit=2&offset=1").await;
    assert_eq!(reply.header("content-range"), "objects 1-2/3");
    let names: Vec<String> =
        reply.expect(200).as_array().unwrap().iter().map(|cluster| cluster["name"].to_string()).collect();
    assert_eq!(names, ["\"b\"", "\"c\""]);
    server.get("clusters?offset=3").await.expect_error(416);
    server.get("clusters?limit=x").await.expect_error(400);
    server.get("clusters?order_by=colour").await.expect_error(400);
    assert_eq!(server.get("clusters?release_id=77").await.expect(200), json!([]));
}

#[tokio::test]
async fn member_sees_only_clusters_of_its_tenant() {
    let server = TestServer::new().await;
    let member = server.create_user("ada", "blue", "member").await;
    let operator = server.create_user("bob", "green", "operator").await;
    let release_id = create_release(&server).await;
    let other_cluster = create_cluster_of(&server, release_id, "admins").await;
    let own_cluster = json!({"name": "own", "release_id": release_id, "tenant": "blue"});
    let own_cluster = id(&server.send_as(&operator, "POST", "clusters", &own_cluster).await.expect(201));
    let green = json!({"name": "green", "release_id": release_id});
    let green = server.send_as(&operator, "POST", "clusters", &green).await.expect(201);
    assert_eq!(green["tenant"], "green");
    let visible = server.send_as(&member, "GET", "clusters", &json!(null)).await.expect(200);
    assert_eq!(visible.as_array().unwrap().iter().map(id).collect::<Vec<_>>(), [own_cluster]);
    server.send_as(&member, "GET", &format!("clusters/{own_cluster}"), &json!(null)).await.expect(200);
    for path in [
        "",
        "/attributes",
        "/attributes/defaults",
        "/extensions",
        "/orchestrator/deployment",
        "/deployment_graphs",
    ] {
        let path = format!("clusters/{other_cluster}{path}");
        assert_eq!(
            server.send_as(&member, "GET", &path, &json!(null)).await.expect_error(404),
            "Cluster not found",
            "{path}"
        );
    }
    let path = format!("clusters/{own_cluster}");
    for method in ["PUT", "PATCH", "DELETE"] {
        server.send_as(&member, method, &path, &json!({})).await.expect_error(403);
    }
    server.send_as("nonsense", "GET", &path, &json!(null)).await.expect_error(401);
}

#[tokio::test]
async fn overview_covers_all_visible_clusters() {
    let server = TestServer::new().await;
    let member = server.create_user("ada", "blue", "member").await;
    let release_id = create_release(&server).await;
    let full_cluster = create_cluster_of(&server, release_id, "full").await;
    let own_cluster = json!({"name": "own", "release_id": release_id, "tenant": "blue"});
    let own_cluster = id(&server.post("clusters", &own_cluster).await.expect(201));
    for number in 1..=3 {
        let node_id = create_node(&server, number).await;
        let assigned = json!([{"id": node_id, "roles": ["compute"]}]);
        server.post(&format!("clusters/{full_cluster}/assignment"), &assigned).await.expect(200);
        server.put(&format!("nodes/{node_id}"), &json!({"online": number != 2})).await.expect(200);
    }
    create_run(&server, Some(full_cluster), RunName::Deploy, RunStatus::Error).await;
    let last = create_run(&server, Some(full_cluster), RunName::Deploy, RunStatus::Ready).await;
    let reply = server.get("clusters/overview").await;
    assert_eq!(reply.header("content-range"), "objects 0-1/2");
    let last = server.get(&format!("transactions/{}", last.id)).await.expect(200);
    let empty = json!({"id": own_cluster, "n_nodes": 0, "n_online": 0, "last_run": null});
    assert_eq!(
        reply.expect(200),
        json!([{"id": full_cluster, "n_nodes": 3, "n_online": 2, "last_run": last}, empty])
    );
    assert_eq!(
        server.send_as(&member, "GET", "clusters/overview", &json!(null)).await.expect(200),
        json!([empty])
    );
    server.get("clusters/overview?order_by=colour").await.expect_error(400);
}

#[tokio::test]
async fn extensions_are_limited_to_those_of_the_release() {
    let server = TestServer::new().await;
    let path = format!("clusters/{}/extensions/", create_cluster(&server).await);
    server.delete(&format!("{path}?extension_names=volume_manager")).await.expect(204);
    assert_eq!(server.get(&path).await.expect(200), json!([]));
    let message = server.put(&path, &json!(["volume_manager", "nope", "neither"])).await.expect_error(400);
    assert_eq!(message, "No such extensions: nope, neither; the release declares: volume_manager");
    assert_eq!(server.get(&path).await.expect(200), json!([]), "the update is atomic");
    for _ in 0..2 {
        let extensions = server.put(&path, &json!(["volume_manager", "volume_manager"])).await.expect(200);
        assert_eq!(extensions, json!(["volume_manager"]));
    }
    let message =
        server.delete(&format!("{path}?extension_names=volume_manager,x,y")).await.expect_error(400);
    assert_eq!(message, "No such extensions to remove: x, y");
    server.delete(&path).await.expect_error(400);
    server.put(&path, &json!({"a": 1})).await.expect_error(400);
    server.put("clusters/9/extensions", &json!(["a"])).await.expect_error(404);
}

#[tokio::test]
async fn generated_values_are_stored_and_not_returned() {
    let server = TestServer::new().await;
    let cluster_id = create_cluster(&server).await;
    let mut transaction = begin_write(&server).await;
    let stored = transaction.cluster_get(ClusterId(cluster_id)).await.unwrap().unwrap();
    commit(transaction).await;
    let password = stored.generated["mysql"]["password"].as_str().unwrap();
    assert_eq!(password.len(), 24);
    let settings = server.get(&format!("clusters/{cluster_id}/attributes")).await.expect(200);
    assert!(!settings.to_string().contains(password));
    assert!(settings.get("generated").is_none());
}
