//! Plugins in clusters: links, versions, what they bring, and what speaks against them.

use serde_json::{Value, json};
use stoker_model::ClusterId;

use crate::choices::{
    contrail, made, new_cluster, plugin_body, release_with_choices, server_with_contrail, switch, with,
};
use crate::support::TestServer;

/// A release, these plugins and a cluster in which none is enabled.
async fn server_with(plugins: &[Value]) -> TestServer {
    let server = TestServer::new().await;
    made(&server, "releases", &release_with_choices()).await;
    for plugin in plugins {
        made(&server, "plugins", plugin).await;
    }
    new_cluster(&server, json!({})).await.expect(201);
    server
}

async fn links(server: &TestServer, cluster_id: i64) -> Vec<(i64, bool)> {
    let links = server.app.store.read().await.unwrap().cluster_plugins(ClusterId(cluster_id)).await.unwrap();
    links.iter().map(|link| (link.plugin_id.0, link.enabled)).collect()
}

async fn is_enabled(server: &TestServer, plugin: &str) -> bool {
    let settings = server.get("clusters/1/attributes").await.expect(200);
    settings["editable"][plugin]["metadata"]["enabled"] == true
}

#[tokio::test]
async fn compatible_clusters_and_plugins_are_linked() {
    let unfit = with(
        plugin_body("unfit", "1.0.0"),
        json!({"releases": [{"os": "centos", "version": "mitaka-9.0", "mode": ["ha"]}]}),
    );
    let server = server_with(&[plugin_body("early", "1.0.0"), unfit]).await;
    assert_eq!(links(&server, 1).await, [(1, false)]);
    new_cluster(&server, json!({"name": "small", "mode": "multinode"})).await.expect(201);
    assert_eq!(links(&server, 2).await, []);
    made(&server, "plugins", &plugin_body("early", "2.0.0")).await;
    let everywhere = with(
        plugin_body("both", "1.0.0"),
        json!({"releases": [{"os": "ubuntu", "version": "mitaka-9.0", "mode": ["ha", "multinode"]}]}),
    );
    made(&server, "plugins", &everywhere).await;
    assert_eq!(links(&server, 1).await, [(1, false), (3, false), (4, false)]);
    assert_eq!(links(&server, 2).await, [(4, false)]);
    switch(&server, 1, &[("early", true)]).await.expect(200);
    assert_eq!(
        links(&server, 1).await,
        [(1, false), (3, true), (4, false)],
        "the newest, unless somebody chooses"
    );
    // One that is not enabled anywhere can go, links and all.
    server.delete("plugins/3").await.refused(409);
    server.delete("plugins/4").await.expect(204);
    assert_eq!(links(&server, 2).await, []);
}

#[tokio::test]
async fn only_one_plugin_version_is_enabled() {
    let server = server_with(&[plugin_body("p", "1.9.0"), plugin_body("p", "1.10.0")]).await;
    for (chosen, expected) in [(1, [(1, true), (2, false)]), (2, [(1, false), (2, true)])] {
        let body = json!({"editable": {"p": {"metadata": {"enabled": true, "chosen_id": chosen}}}});
        server.put("clusters/1/attributes", &body).await.expect(200);
        assert_eq!(links(&server, 1).await, expected);
    }
    // A version that is newer than the enabled one does not push it out.
    made(&server, "plugins", &plugin_body("p", "2.0.0")).await;
    assert_eq!(links(&server, 1).await, [(1, false), (2, true), (3, false)]);
}

#[tokio::test]
async fn conflicting_plugin_contents_name_both_plugins() {
    let parts = |name: &str| {
        with(
            plugin_body(name, "1.0.0"),
            json!({
                "roles_metadata": {"shared-role": {"name": name}},
                "volumes_metadata": {"volumes": [{"id": "shared-volume", "type": "vg"}], "volumes_roles_mapping": {}},
                "network_roles_metadata": [{"id": "shared-net", "default_mapping": name, "properties": {"vip": []}}],
                "deployment_tasks": [{"id": "shared-task", "type": "stage"}, {"id": format!("{name}-task"), "type": "stage"}],
            }),
        )
    };
    let server = server_with(&[parts("one"), parts("two")]).await;
    switch(&server, 1, &[("one", true)]).await.expect(200);
    let refused = switch(&server, 1, &[("two", true)]).await.expect(400);
    let messages: Vec<&str> = refused["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["message"].as_str().unwrap())
        .collect();
    assert_eq!(
        messages,
        [
            "plugin `two` cannot be enabled: the network role `shared-net` is also in plugin `one`",
            "plugin `two` cannot be enabled: the role `shared-role` is also in plugin `one`",
            "plugin `two` cannot be enabled: the volume `shared-volume` is also in plugin `one`",
            "plugin `two` cannot be enabled: the task `shared-task` of graph `default` is also in plugin `one`",
        ]
    );
    assert_eq!(refused["errors"][0]["path"], "editable.two.metadata.enabled");
    assert!(!is_enabled(&server, "two").await, "nothing is written");
    // Instead of the other it may.
    switch(&server, 1, &[("one", false), ("two", true)]).await.expect(200);
    assert!(is_enabled(&server, "two").await && !is_enabled(&server, "one").await);
}

#[tokio::test]
async fn plugin_cannot_redefine_release_roles() {
    let thief =
        with(plugin_body("thief", "1.0.0"), json!({"roles_metadata": {"controller": {"name": "Mine"}}}));
    let server = server_with(&[thief]).await;
    let message = switch(&server, 1, &[("thief", true)]).await.refused(400);
    assert_eq!(message, "plugin `thief` cannot be enabled: the role `controller` is also in the release");
}

#[tokio::test]
async fn several_plugins_may_override_a_release_task() {
    let patch = |name: &str| {
        with(
            plugin_body(name, "1.0.0"),
            json!({"deployment_tasks": [{"id": "netconfig", "type": "shell", "mine": name}]}),
        )
    };
    let server = server_with(&[patch("one"), patch("two")]).await;
    let tasks = json!([{"id": "netconfig", "type": "puppet"}]);
    server.put("releases/1/deployment_graphs/default", &json!({"tasks": tasks})).await.expect(200);
    switch(&server, 1, &[("one", true), ("two", true)]).await.expect(200);
    let findings = server.get("clusters/1/deployment_tasks/check").await.expect(200);
    assert!(findings.to_string().contains("two"), "the merge tells of both: {findings}");
}

#[tokio::test]
async fn incompatible_plugin_is_refused_with_reason() {
    let mesh = with(
        plugin_body("mesh", "1.0.0"),
        json!({"provides": [{"name": "networking:core", "label": "Mesh", "compatible_hypervisors": ["all"]}]}),
    );
    let server = server_with_contrail().await;
    made(&server, "plugins", &mesh).await;
    let vcenter = json!({"components": ["hypervisor:vmware", "network:ml2:vlan"]});
    new_cluster(&server, vcenter).await.expect(201);
    let refused = switch(&server, 1, &[("contrail", true)]).await.expect(400);
    let messages: Vec<&str> = refused["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["message"].as_str().unwrap())
        .collect();
    assert_eq!(
        messages,
        [
            "plugin `contrail` cannot be enabled: vCenter is not compatible with Contrail",
            "plugin `contrail` cannot be enabled: Contrail is not compatible with VLAN",
        ]
    );
    assert_eq!(
        (&refused["errors"][0]["kind"], &refused["errors"][0]["plugin"]),
        (&json!("incompatible"), &json!("contrail"))
    );
    assert!(!is_enabled(&server, "contrail").await);
    // Of a cluster that never chose, nobody knows; two core networks still exclude each other.
    new_cluster(&server, json!({"name": "plain"})).await.expect(201);
    switch(&server, 2, &[("contrail", true)]).await.expect(200);
    let message = switch(&server, 2, &[("mesh", true)]).await.refused(400);
    assert_eq!(message, "plugin `mesh` cannot be enabled: Contrail is not compatible with Mesh");
    // What is enabled already is not judged again.
    server
        .put("clusters/2/attributes", &json!({"editable": {"common": {"debug": {"value": true}}}}))
        .await
        .expect(200);
}

#[tokio::test]
async fn component_requirements_are_checked_when_enabling() {
    let dvs = with(
        plugin_body("dvs", "1.0.0"),
        json!({"components_metadata": [{"name": "network:ml2:dvs", "label": "DVS",
            "requires": [{"name": "hypervisor:vmware", "message": "DVS needs vCenter"}]}]}),
    );
    let server = server_with(&[dvs]).await;
    new_cluster(&server, json!({"name": "kvm", "components": ["hypervisor:core:kvm", "network:ml2:vlan"]}))
        .await
        .expect(201);
    new_cluster(&server, json!({"name": "esx", "components": ["hypervisor:vmware", "network:ml2:vlan"]}))
        .await
        .expect(201);
    let message = switch(&server, 2, &[("dvs", true)]).await.refused(400);
    assert_eq!(
        message,
        "plugin `dvs` cannot be enabled: DVS requires any of: hypervisor:vmware: DVS needs vCenter"
    );
    switch(&server, 3, &[("dvs", true)]).await.expect(200);
}

#[tokio::test]
async fn enabled_plugin_extends_the_cluster() {
    let rich = with(
        contrail(),
        json!({
            "roles_metadata": {"contrail-control": {"name": "Contrail control", "tags": ["contrail"], "restrictions": ["false"]}},
            "tags_metadata": {"contrail": {"has_primary": true}},
            "volumes_metadata": {"volumes": [{"id": "cassandra", "type": "vg"}],
                                 "volumes_roles_mapping": {"contrail-control": [{"id": "cassandra", "allocate_size": "all"}]}},
            "deployment_tasks": [{"id": "contrail-up", "type": "shell", "role": ["primary-contrail"], "version": "2.1.0",
                                  "parameters": {"cmd": "up", "timeout": 9}}],
            "tasks": [{"type": "shell", "role": "*", "stage": "post_deployment/4000",
                       "parameters": {"cmd": "after", "timeout": 9}}],
        }),
    );
    let server = server_with(&[rich]).await;
    let role = |roles: &Value| {
        roles.as_array().unwrap().iter().find(|role| role["name"] == "contrail-control").cloned()
    };
    assert_eq!(role(&server.get("clusters/1/roles").await.expect(200)), None);
    let body =
        json!({"editable": {"contrail": {"metadata": {"enabled": true}, "segments": {"value": "32"}}}});
    server.put("clusters/1/attributes", &body).await.expect(200);
    let shown = role(&server.get("clusters/1/roles").await.expect(200)).unwrap();
    assert_eq!(
        shown["meta"]["restrictions"],
        json!(["settings:contrail.metadata.enabled == false", "false"]),
        "the role is there while the plugin is"
    );
    assert_eq!(shown["volumes_roles_mapping"], json!([{"id": "cassandra", "allocate_size": "all"}]));
    let tags = server.get("clusters/1/tags").await.expect(200);
    assert!(tags.as_array().unwrap().iter().any(|tag| tag["name"] == "contrail"));
    let tasks = server.get("clusters/1/deployment_tasks").await.expect(200);
    let ids: Vec<&str> = tasks.as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&"contrail-up") && ids.contains(&"contrail-post_deployment-4000-1"), "{ids:?}");
    // A role of the cluster's own may use the volume.
    let own = json!({"name": "own", "meta": {"name": "Own", "description": "d"},
                     "volumes_roles_mapping": [{"id": "cassandra", "allocate_size": "min"}]});
    server.post("clusters/1/roles", &own).await.expect(201);
    let node = made(&server, "nodes", &json!({"mac": "52:54:00:00:00:01", "status": "discover"})).await;
    server
        .post("clusters/1/assignment", &json!([{"id": node, "roles": ["contrail-control"]}]))
        .await
        .expect(200);
    let facts = server.get("clusters/1/orchestrator/deployment/defaults?split=1").await.expect(200);
    let common = facts.as_array().unwrap().iter().find(|document| document["uid"] == "common").unwrap();
    assert_eq!(common["contrail"]["segments"], "32", "settings of the plugin");
    assert_eq!(common["plugins"][0]["name"], "contrail");
    let plan = server.post("clusters/1/plans", &json!({})).await.expect(201);
    assert_eq!(plan["n_run"], 2, "the task of its graph on the primary, and the one of its stage: {plan}");
    // It stays while a node has its role.
    let message = switch(&server, 1, &[("contrail", false)]).await.refused(400);
    assert!(message.contains("have its role `contrail-control`"), "{message}");
}

/// As `fuel2 env settings download` and `upload` do it.
#[tokio::test]
async fn downloaded_settings_round_trip_with_plugin_enabled() {
    let server = server_with(&[contrail()]).await;
    let mut settings = server.get("clusters/1/attributes").await.expect(200);
    let metadata = &mut settings["editable"]["contrail"]["metadata"];
    metadata["enabled"] = json!(true);
    metadata["versions"][0]["segments"]["value"] = json!("64");
    let after = server.put("clusters/1/attributes", &settings).await.expect(200);
    settings["editable"]["contrail"]["value"] = json!(true);
    assert_eq!(after, settings);
    assert_eq!(links(&server, 1).await, [(1, true)]);
    // And again, and switched off; the other spelling of the switch does not count then.
    assert_eq!(server.put("clusters/1/attributes", &after).await.expect(200), after);
    settings["editable"]["contrail"]["metadata"]["enabled"] = json!(false);
    server.put("clusters/1/attributes", &settings).await.expect(200);
    assert_eq!(links(&server, 1).await, [(1, false)]);
    // By itself it does.
    server
        .put("clusters/1/attributes", &json!({"editable": {"contrail": {"value": true}}}))
        .await
        .expect(200);
    assert_eq!(links(&server, 1).await, [(1, true)]);
    let version =
        server.get("clusters/1/attributes").await.expect(200)["editable"]["contrail"]["metadata"]["versions"]
            [0]
        .clone();
    assert_eq!(version.get("value"), None, "it is no setting of the plugin");
}
