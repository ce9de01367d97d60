use serde_json::{Value, json};
use stoker_model::{ClusterId, ClusterStatus};

use crate::beginnings::{
    create_cluster, create_cluster_of, create_node, create_plugin, create_release_from, map, release_body,
    send_with_header,
};
use crate::fixtures::{begin_write, commit};
use crate::support::TestServer;

async fn lock_cluster(server: &TestServer, cluster_id: i64) {
    let mut transaction = begin_write(server).await;
    let mut cluster = transaction.cluster_get(ClusterId(cluster_id)).await.unwrap().unwrap();
    cluster.is_locked = true;
    transaction.cluster_update(&cluster).await.unwrap();
    commit(transaction).await;
}

#[tokio::test]
async fn settings_start_with_release_defaults() {
    let server = TestServer::new().await;
    let path = format!("clusters/{}/attributes", create_cluster(&server).await);
    let editable = &server.get(&path).await.expect(200)["editable"];
    assert_eq!(editable["common"]["debug"], json!({"type": "checkbox", "value": false}));
    assert_eq!(editable["common"]["puppet"]["value"], "http://127.0.0.1/1");
    assert_eq!(editable["external"]["dns"]["value"], json!([]));
    assert_eq!(editable["storage"]["fsid"]["value"].as_str().unwrap().len(), 36);
}

#[tokio::test]
async fn value_generators_of_releases_are_supported() {
    let server = TestServer::new().await;
    let mut body = release_body();
    body.attributes_metadata = map(json!({"editable": {"s": {
        "password": {"value": {"generator": "password"}},
        "hex": {"value": {"generator": "hexstring", "generator_arg": "64"}},
        "short hex": {"value": {"generator": "hexstring", "generator_arg": 32}},
        "huge": {"value": {"generator": "hexstring", "generator_arg": "99999999999"}},
        "port": {"value": {"generator": "identical", "generator_arg": "514"}},
        "address": {"value": {"generator": "ip", "generator_arg": "admin"}},
        "ntp": {"value": {"generator": "from_settings", "generator_arg": "NTP_UPSTREAM"}},
        "key": {"value": {"generator": "cephx_key"}},
        "odd": {"value": {"generator": "my_own"}},
        "list": {"value": ["{cluster.release.version}", {"generator": "identical", "generator_arg": "x"}]},
        "versions": {"value": "{cluster.release.environment_version} {unknown}"},
    }}}));
    let release_id = create_release_from(&server, body).await;
    let path = format!("clusters/{}/attributes", create_cluster_of(&server, release_id, "demo").await);
    let section = server.get(&path).await.expect(200)["editable"]["s"].clone();
    let value = |name: &str| section[name]["value"].clone();
    let length = |name: &str| value(name).as_str().map(str::len);
    assert_eq!(length("password"), Some(24));
    assert_eq!((length("hex"), length("short hex"), length("huge")), (Some(64), Some(32), Some(1024)));
    assert_eq!(
        (value("port"), value("address"), value("ntp")),
        (json!("514"), json!("127.0.0.1"), json!(""))
    );
    let key = value("key");
    assert!(key.as_str().unwrap().starts_with("AQ") && length("key") == Some(40), "{key}");
    assert_eq!(value("odd"), json!({"generator": "my_own"}));
    assert_eq!(value("list"), json!(["mitaka-9.0", "x"]));
    assert_eq!(value("versions"), json!("9.0 {unknown}"));
}

#[tokio::test]
async fn settings_update_is_merged() {
    let server = TestServer::new().await;
    let path = format!("clusters/{}/attributes", create_cluster(&server).await);
    let before = server.get(&path).await.expect(200);
    let body = json!({"editable": {"common": {"debug": {"value": true}}, "mine": {"x": {"value": [1]}}}});
    let after = server.put(&path, &body).await.expect(200);
    let mut expected = before.clone();
    expected["editable"]["common"]["debug"]["value"] = json!(true);
    expected["editable"]["mine"] = json!({"x": {"value": [1]}});
    assert_eq!(after, expected);
    assert_eq!(server.get(&path).await.expect(200), expected);
    // A GET response is a valid PUT body.
    assert_eq!(server.put(&path, &after).await.expect(200), expected);
    assert_eq!(server.patch(&path, &json!({})).await.expect(200), expected);
}

#[tokio::test]
async fn invalid_settings_are_reported_together_and_not_stored() {
    let server = TestServer::new().await;
    let path = format!("clusters/{}/attributes", create_cluster(&server).await);
    let before = server.get(&path).await.expect(200);
    for (body, message) in [
        (json!({"generated": {}}), "It is not allowed to update generated attributes"),
        (json!({"editable": []}), "must be a map"),
        (
            json!({"editable": {"common": {"debug": {"value": "x"}}}}),
            "editable.common.debug.value: must be true or false, got text",
        ),
        (
            json!({"editable": {"common": {"debug": true}}}),
            "editable.common.debug: expected a map with `value`, got true",
        ),
        (json!({"editable": {"common": 1}}), "editable.common: expected a map of settings, got 1"),
        (
            json!({"editable": {"nowhere": {"metadata": {"class": "plugin"}}}}),
            "no such plugin for this cluster",
        ),
        (json!({"edit": {}}), "unknown key"),
        (json!([]), "must be a map"),
    ] {
        let error = server.put(&path, &body).await.expect_error(400);
        assert!(error.contains(message), "{body}: {error}");
    }
    let two = json!({"editable": {"common": {"debug": {"value": 1}, "puppet": {"value": 2}}, "mine": {}}});
    assert_eq!(server.put(&path, &two).await.expect(400)["errors"].as_array().unwrap().len(), 2);
    assert_eq!(server.get(&path).await.expect(200), before);
    server.put("clusters/9/attributes", &json!({})).await.expect_error(404);
    server.put(&format!("{path}?force=x"), &json!({})).await.expect_error(400);
}

#[tokio::test]
async fn stale_etag_of_settings_is_refused() {
    let server = TestServer::new().await;
    let path = format!("clusters/{}/attributes", create_cluster(&server).await);
    let tag = server.get(&path).await.header("etag").to_owned();
    let body = r#"{"editable": {"common": {"debug": {"value": true}}}}"#;
    send_with_header(&server, ("PUT", &path), ("if-match", &tag), body).await.expect(200);
    send_with_header(&server, ("PUT", &path), ("if-match", &tag), body).await.expect_error(412);
    let yaml = "editable:\n  common:\n    debug: {value: false}\n";
    let reply = send_with_header(&server, ("PUT", &path), ("content-type", "application/x-yaml"), yaml)
        .await
        .expect(200);
    assert_eq!(reply["editable"]["common"]["debug"]["value"], false);
}

#[tokio::test]
async fn locked_cluster_settings_require_force() {
    let server = TestServer::new().await;
    let cluster_id = create_cluster(&server).await;
    lock_cluster(&server, cluster_id).await;
    let path = format!("clusters/{cluster_id}/attributes");
    let body = json!({"editable": {"common": {"debug": {"value": true}}}});
    let message = server.put(&path, &body).await.expect_error(403);
    assert!(message.contains("`common` is locked"), "{message}");
    // Unchanged settings and sections marked `always_editable` are accepted.
    let same = server.get(&path).await.expect(200);
    server.put(&path, &same).await.expect(200);
    server.put(&path, &json!({"editable": {"external": {"dns": {"value": ["8.8.8.8"]}}}})).await.expect(200);
    let changed = server.put(&format!("{path}?force=1"), &body).await.expect(200);
    assert_eq!(changed["editable"]["common"]["debug"]["value"], true);
    server.put(&format!("{path}/defaults"), &json!({})).await.expect_error(403);
    server.put(&format!("{path}/defaults?force=true"), &json!({})).await.expect(200);
}

#[tokio::test]
async fn reset_to_defaults_keeps_generated_values() {
    let server = TestServer::new().await;
    let path = format!("clusters/{}/attributes", create_cluster(&server).await);
    let first = server.get(&path).await.expect(200);
    let body = json!({"editable": {"common": {"debug": {"value": true}}, "mine": {}}});
    server.put(&path, &body).await.expect(200);
    assert_eq!(server.get(&format!("{path}/defaults/")).await.expect(200), first);
    assert_eq!(server.put(&format!("{path}/defaults/"), &json!({})).await.expect(200), first);
    assert_eq!(server.get(&path).await.expect(200), first);
    server.get("clusters/9/attributes/defaults").await.expect_error(404);
}

#[tokio::test]
async fn deployed_settings_of_new_cluster_are_not_found() {
    let server = TestServer::new().await;
    let path = format!("clusters/{}/attributes/deployed", create_cluster(&server).await);
    server.get(&path).await.expect_error(404);
    assert_eq!(server.get("clusters/9/attributes/deployed").await.expect_error(404), "Cluster not found");
}

fn gridnet_metadata(reply: &Value) -> &Value {
    &reply["editable"]["gridnet"]["metadata"]
}

#[tokio::test]
async fn compatible_plugins_have_settings_sections() {
    let server = TestServer::new().await;
    let attributes = json!({"metadata": {"group": "network"}, "segments": {"type": "text", "value": "16"}});
    let old = create_plugin(&server, "gridnet", "1.9.0", attributes.clone()).await;
    let new = create_plugin(&server, "gridnet", "1.10.0", attributes).await;
    let mut unfit = create_plugin(&server, "unfit", "1.0.0", json!({})).await;
    let mut transaction = begin_write(&server).await;
    unfit.body.releases = vec![json!({"os": "centos", "version": "mitaka-9.0", "mode": ["ha"]})];
    transaction.plugin_update(&unfit).await.unwrap();
    commit(transaction).await;
    let path = format!("clusters/{}/attributes", create_cluster(&server).await);
    let settings = server.get(&path).await.expect(200);
    let version = |plugin: &stoker_model::Plugin| {
        json!({
            "metadata": {"plugin_id": plugin.id.0, "plugin_version": plugin.body.version, "hot_pluggable": false,
                         "contains_legacy_tasks": false},
            "segments": {"type": "text", "value": "16"},
        })
    };
    let expected = json!({
        "label": "The gridnet", "toggleable": true, "weight": 70, "group": "network", "class": "plugin",
        "enabled": false, "default": false, "chosen_id": new.id.0, "versions": [version(&old), version(&new)],
    });
    assert_eq!(gridnet_metadata(&settings), &expected);
    assert!(settings["editable"].get("unfit").is_none());
}

#[tokio::test]
async fn plugin_is_enabled_through_settings() {
    let server = TestServer::new().await;
    let attributes = json!({"segments": {"type": "text", "value": "16"}});
    let old = create_plugin(&server, "gridnet", "1.0.0", attributes.clone()).await.id.0;
    let new = create_plugin(&server, "gridnet", "2.0.0", attributes).await.id.0;
    let path = format!("clusters/{}/attributes", create_cluster(&server).await);
    // The legacy client downloads, edits and uploads all settings.
    let mut edited = server.get(&path).await.expect(200);
    let metadata = &mut edited["editable"]["gridnet"]["metadata"];
    metadata["enabled"] = json!(true);
    metadata["chosen_id"] = json!(old);
    metadata["versions"][0]["segments"]["value"] = json!("32");
    metadata["versions"][1]["segments"]["value"] = json!("64");
    let after = server.put(&path, &edited).await.expect(200);
    assert_eq!(
        (&gridnet_metadata(&after)["enabled"], &gridnet_metadata(&after)["chosen_id"]),
        (&json!(true), &json!(old))
    );
    // Only the settings of the chosen version are stored.
    assert_eq!(gridnet_metadata(&after)["versions"][0]["segments"]["value"], "32");
    assert_eq!(gridnet_metadata(&after)["versions"][1]["segments"]["value"], "16");
    // Choosing another version disables the previous one.
    let other = json!({"editable": {"gridnet": {"metadata": {"chosen_id": new}}}});
    let after = server.put(&path, &other).await.expect(200);
    assert_eq!(
        (&gridnet_metadata(&after)["enabled"], &gridnet_metadata(&after)["chosen_id"]),
        (&json!(true), &json!(new))
    );
    let off = json!({"editable": {"gridnet": {"metadata": {"enabled": false}}}});
    let after = server.put(&path, &off).await.expect(200);
    assert_eq!(gridnet_metadata(&after)["enabled"], false);
    for (section, message) in [
        (json!({"metadata": {"enabled": "yes"}}), "editable.gridnet.metadata.enabled: must be true or false"),
        (
            json!({"metadata": {"enabled": true, "chosen_id": 99}}),
            "must be the ID of a compatible version: 1, 2",
        ),
        (json!({"metadata": {"chosen_id": "1"}}), "must be the ID of a compatible version"),
        (
            json!({"metadata": {"enabled": true}, "segments": {"value": 5}}),
            "editable.gridnet.segments.value: must be text",
        ),
        (json!([]), "editable.gridnet: expected a map of settings"),
    ] {
        let error = server.put(&path, &json!({"editable": {"gridnet": section}})).await.expect_error(400);
        assert!(error.contains(message), "{section}: {error}");
    }
}

#[tokio::test]
async fn plugin_with_assigned_role_cannot_be_disabled() {
    let server = TestServer::new().await;
    create_plugin(&server, "gridnet", "1.0.0", json!({})).await;
    let cluster_id = create_cluster(&server).await;
    let node_id = create_node(&server, 1).await;
    let path = format!("clusters/{cluster_id}/attributes");
    let assignment = format!("clusters/{cluster_id}/assignment");
    let roles = json!([{"id": node_id, "roles": ["gridnet-role"]}]);
    server.post(&assignment, &roles).await.expect_error(400);
    let toggle = |enabled: bool| json!({"editable": {"gridnet": {"metadata": {"enabled": enabled}}}});
    server.put(&path, &toggle(true)).await.expect(200);
    server.post(&assignment, &roles).await.expect(200);
    let message = server.put(&path, &toggle(false)).await.expect_error(400);
    assert_eq!(message, "plugin `gridnet` cannot be disabled: nodes 1 have its role `gridnet-role`");
    server.put(&format!("{path}/defaults"), &json!({})).await.expect_error(400);
    assert_eq!(gridnet_metadata(&server.get(&path).await.expect(200))["enabled"], true);
    server.post(&assignment, &json!([{"id": node_id, "roles": []}])).await.expect(200);
    let after = server.put(&format!("{path}/defaults"), &json!({})).await.expect(200);
    assert_eq!(gridnet_metadata(&after)["enabled"], false);
}

#[tokio::test]
async fn locked_cluster_accepts_only_hot_pluggable_plugins() {
    let server = TestServer::new().await;
    create_plugin(&server, "gridnet", "1.0.0", json!({})).await;
    create_plugin(&server, "hotnet", "1.0.0", json!({})).await;
    let cluster_id = create_cluster(&server).await;
    lock_cluster(&server, cluster_id).await;
    let path = format!("clusters/{cluster_id}/attributes");
    let enable = |name: &str| json!({"editable": {name: {"metadata": {"enabled": true}}}});
    server.put(&path, &enable("gridnet")).await.expect_error(403);
    server.put(&path, &enable("hotnet")).await.expect(200);
    server.put(&format!("{path}?force=1"), &enable("gridnet")).await.expect(200);
}

#[tokio::test]
async fn deployed_cluster_refuses_plugins_that_are_not_hot_pluggable() {
    let server = TestServer::new().await;
    create_plugin(&server, "gridnet", "1.0.0", json!({})).await;
    create_plugin(&server, "hotnet", "1.0.0", json!({})).await;
    let cluster_id = create_cluster(&server).await;
    let mut transaction = begin_write(&server).await;
    let mut deployed = transaction.cluster_get(ClusterId(cluster_id)).await.unwrap().unwrap();
    deployed.status = ClusterStatus::Operational;
    transaction.cluster_update(&deployed).await.unwrap();
    commit(transaction).await;
    let path = format!("clusters/{cluster_id}/attributes");
    let switch = |name: &str, enabled: bool| json!({"editable": {name: {"metadata": {"enabled": enabled}}}});
    let reply = server.put(&path, &switch("gridnet", true)).await.expect(403);
    assert_eq!(
        reply["message"],
        "plugin `gridnet` is not hot-pluggable: it cannot be enabled in a deployed cluster"
    );
    assert_eq!(reply["errors"][0]["code"], "plugin-not-hot-pluggable");
    assert_eq!(reply["errors"][0]["help"], "set `force=1` to override");
    server.put(&path, &switch("hotnet", true)).await.expect(200);
    server.put(&format!("{path}?force=1"), &switch("gridnet", true)).await.expect(200);
    let message = server.put(&path, &switch("gridnet", false)).await.expect_error(403);
    assert!(message.contains("cannot be disabled"), "{message}");
    // Other settings of a deployed cluster remain editable.
    server.put(&path, &json!({"editable": {"common": {"debug": {"value": true}}}})).await.expect(200);
}
