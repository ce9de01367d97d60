//! Enabling plugins in clusters: links, versions, contributed metadata and conflicts.

use serde_json::{Value, json};
use stoker_model::ClusterId;

use crate::component_fixtures::{
    contrail_body, create, plugin_body, post_cluster, release_with_components, server_with_contrail,
    set_plugins_enabled, with_fields,
};
use crate::support::TestServer;

/// Returns a server with a release, these plugins and a cluster in which no plugin is enabled.
async fn server_with_plugins(plugins: &[Value]) -> TestServer {
    let server = TestServer::new().await;
    create(&server, "releases", &release_with_components()).await;
    for plugin in plugins {
        create(&server, "plugins", plugin).await;
    }
    post_cluster(&server, json!({})).await.expect(201);
    server
}

async fn get_plugin_links(server: &TestServer, cluster_id: i64) -> Vec<(i64, bool)> {
    let links = server.app.store.read().await.unwrap().cluster_plugins(ClusterId(cluster_id)).await.unwrap();
    links.iter().map(|link| (link.plugin_id.0, link.enabled)).collect()
}

async fn is_enabled(server: &TestServer, plugin: &str) -> bool {
    let settings = server.get("clusters/1/attributes").await.expect(200);
    settings["editable"][plugin]["metadata"]["enabled"] == true
}

#[tokio::test]
async fn compatible_clusters_and_plugins_are_linked() {
    let unfit = with_fields(
        plugin_body("unfit", "1.0.0"),
        json!({"releases": [{"os": "centos", "version": "mitaka-9.0", "mode": ["ha"]}]}),
    );
    let server = server_with_plugins(&[plugin_body("early", "1.0.0"), unfit]).await;
    assert_eq!(get_plugin_links(&server, 1).await, [(1, false)]);
    post_cluster(&server, json!({"name": "small", "mode": "multinode"})).await.expect(201);
    assert_eq!(get_plugin_links(&server, 2).await, []);
    create(&server, "plugins", &plugin_body("early", "2.0.0")).await;
    let everywhere = with_fields(
        plugin_body("both", "1.0.0"),
        json!({"releases": [{"os": "ubuntu", "version": "mitaka-9.0", "mode": ["ha", "multinode"]}]}),
    );
    create(&server, "plugins", &everywhere).await;
    assert_eq!(get_plugin_links(&server, 1).await, [(1, false), (3, false), (4, false)]);
    assert_eq!(get_plugin_links(&server, 2).await, [(4, false)]);
    set_plugins_enabled(&server, 1, &[("early", true)]).await.expect(200);
    assert_eq!(
        get_plugin_links(&server, 1).await,
        [(1, false), (3, true), (4, false)],
        "the newest version is the default"
    );
    // A plugin that is enabled nowhere can be deleted together with its links.
    server.delete("plugins/3").await.expect_error(409);
    server.delete("plugins/4").await.expect(204);
    assert_eq!(get_plugin_links(&server, 2).await, []);
}

#[tokio::test]
async fn only_one_plugin_version_is_enabled() {
    let server = server_with_plugins(&[plugin_body("p", "1.9.0"), plugin_body("p", "1.10.0")]).await;
    for (chosen, expected) in [(1, [(1, true), (2, false)]), (2, [(1, false), (2, true)])] {
        let body = json!({"editable": {"p": {"metadata": {"enabled": true, "chosen_id": chosen}}}});
        server.put("clusters/1/attributes", &body).await.expect(200);
        assert_eq!(get_plugin_links(&server, 1).await, expected);
    }
    // Installing a newer version does not replace the enabled one.
    create(&server, "plugins", &plugin_body("p", "2.0.0")).await;
    assert_eq!(get_plugin_links(&server, 1).await, [(1, false), (2, true), (3, false)]);
}

#[tokio::test]
async fn conflicting_plugin_contents_name_both_plugins() {
    let conflicting_plugin = |name: &str| {
        with_fields(
            plugin_body(name, "1.0.0"),
            json!({
                "roles_metadata": {"shared-role": {"name": name}},
                "volumes_metadata": {"volumes": [{"id": "shared-volume", "type": "vg"}], "volumes_roles_mapping": {}},
                "network_roles_metadata": [{"id": "shared-net", "default_mapping": name, "properties": {"vip": []}}],
                "deployment_tasks": [{"id": "shared-task", "type": "stage"}, {"id": format!("{name}-task"), "type": "stage"}],
            }),
        )
    };
    let server = server_with_plugins(&[conflicting_plugin("one"), conflicting_plugin("two")]).await;
    set_plugins_enabled(&server, 1, &[("one", true)]).await.expect(200);
    let response = set_plugins_enabled(&server, 1, &[("two", true)]).await.expect(400);
    let messages: Vec<&str> = response["errors"]
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
        ]
    );
    assert_eq!(response["errors"][0]["path"], "editable.two.metadata.enabled");
    assert!(!is_enabled(&server, "two").await, "nothing is stored");
    // The plugin can replace the other plugin in one update.
    set_plugins_enabled(&server, 1, &[("one", false), ("two", true)]).await.expect(200);
    assert!(is_enabled(&server, "two").await && !is_enabled(&server, "one").await);
}

#[tokio::test]
async fn plugin_cannot_redefine_release_roles() {
    let thief = with_fields(
        plugin_body("thief", "1.0.0"),
        json!({"roles_metadata": {"controller": {"name": "Mine"}}}),
    );
    let server = server_with_plugins(&[thief]).await;
    let message = set_plugins_enabled(&server, 1, &[("thief", true)]).await.expect_error(400);
    assert_eq!(message, "plugin `thief` cannot be enabled: the role `controller` is also in the release");
}

#[tokio::test]
async fn two_plugins_with_the_same_task_are_merged_by_name_with_a_warning() {
    let with_task = |name: &str, fields: Value| {
        let task = with_fields(json!({"id": "shared"}), fields);
        with_fields(plugin_body(name, "1.0.0"), json!({"deployment_tasks": [task]}))
    };
    let zeta = with_task("zeta", json!({"type": "shell", "role": "*", "parameters": {"cmd": "zeta"}}));
    let alpha = with_task("alpha", json!({"type": "shell", "role": "*", "parameters": {"cmd": "alpha"}}));
    let beta = with_task("beta", json!({"requires": ["x"]}));
    let server = server_with_plugins(&[zeta, alpha, beta]).await;
    let warnings = async || -> Vec<String> {
        let findings = server.get("clusters/1/deployment_tasks/check").await.expect(200);
        let of_plugins = findings.as_array().unwrap().iter().filter(|finding| {
            assert_ne!(finding["severity"], "error", "{finding}");
            finding["code"] == "graph-plugin-conflict"
        });
        of_plugins.map(|finding| finding["message"].as_str().unwrap().to_owned()).collect()
    };
    let merged = async || server.get("clusters/1/deployment_tasks").await.expect(200)[0].clone();
    // The later plugin by name takes precedence, whichever was created or enabled first.
    set_plugins_enabled(&server, 1, &[("zeta", true)]).await.expect(200);
    set_plugins_enabled(&server, 1, &[("alpha", true)]).await.expect(200);
    let differ = "plugin `alpha` 1.0.0 and plugin `zeta` 1.0.0 set `parameters` to different values; plugin `zeta` 1.0.0 takes precedence";
    assert_eq!(warnings().await, [differ]);
    assert_eq!(merged().await["parameters"]["cmd"], "zeta");
    // Attributes that do not conflict are merged, with a warning too.
    set_plugins_enabled(&server, 1, &[("beta", true)]).await.expect(200);
    let both = "plugin `alpha` 1.0.0 and plugin `beta` 1.0.0 define the task; their attributes are merged";
    assert_eq!(warnings().await, [both, differ]);
    assert_eq!(merged().await["requires"], json!(["x"]));
    // A later upload follows the same rule.
    let tasks = json!([{"id": "other", "type": "stage"}]);
    for plugin in [1, 2] {
        let path = format!("plugins/{plugin}/deployment_graphs/later");
        server.post(&path, &tasks).await.expect(200);
    }
    let later = server.get("clusters/1/deployment_tasks/check?graph_type=later").await.expect(200);
    let message = "plugin `alpha` 1.0.0 and plugin `zeta` 1.0.0 define the task; their attributes are merged";
    assert_eq!(later[0]["message"], message, "{later}");
    // So do packages, and new versions of them.
    let source = crate::packages::PluginSource::new("gridnet", stoker_registry::package::PackageVersion::V5);
    source.remove("wizard_metadata.yaml");
    source.write("deployment_tasks.yaml", "- {id: packaged, type: stage}\n");
    crate::packages::upload(&server, source.archive()).await.expect(201);
    set_plugins_enabled(&server, 1, &[("gridnet", true)]).await.expect(200);
    assert_eq!(warnings().await, [both, differ]);
    source.write(
        "deployment_tasks.yaml",
        "- {id: shared, type: shell, role: '*', parameters: {cmd: gridnet}}\n",
    );
    source.set_version("1.0.1");
    crate::packages::upload(&server, source.archive()).await.expect(200);
    let all = warnings().await.join("\n");
    assert!(
        all.contains("plugin `gridnet` 1.0.1") && all.contains("plugin `zeta` 1.0.0 takes precedence"),
        "{all}"
    );
    assert_eq!(merged().await["parameters"]["cmd"], "zeta");
}

#[tokio::test]
async fn incompatible_plugin_is_refused_with_reason() {
    let mesh = with_fields(
        plugin_body("mesh", "1.0.0"),
        json!({"provides": [{"name": "networking:core", "label": "Mesh", "compatible_hypervisors": ["all"]}]}),
    );
    let server = server_with_contrail().await;
    create(&server, "plugins", &mesh).await;
    let vcenter = json!({"components": ["hypervisor:vmware", "network:ml2:vlan"]});
    post_cluster(&server, vcenter).await.expect(201);
    let response = set_plugins_enabled(&server, 1, &[("contrail", true)]).await.expect(400);
    let messages: Vec<&str> = response["errors"]
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
        (&response["errors"][0]["kind"], &response["errors"][0]["plugin"]),
        (&json!("incompatible"), &json!("contrail"))
    );
    assert!(!is_enabled(&server, "contrail").await);
    // A cluster without chosen components is not checked against them, but two core networks still exclude
    // each other.
    post_cluster(&server, json!({"name": "plain"})).await.expect(201);
    set_plugins_enabled(&server, 2, &[("contrail", true)]).await.expect(200);
    let message = set_plugins_enabled(&server, 2, &[("mesh", true)]).await.expect_error(400);
    assert_eq!(message, "plugin `mesh` cannot be enabled: Contrail is not compatible with Mesh");
    // Enabled plugins are not validated again.
    server
        .put("clusters/2/attributes", &json!({"editable": {"common": {"debug": {"value": true}}}}))
        .await
        .expect(200);
}

#[tokio::test]
async fn component_requirements_are_checked_when_enabling() {
    let dvs = with_fields(
        plugin_body("dvs", "1.0.0"),
        json!({"components_metadata": [{"name": "network:ml2:dvs", "label": "DVS",
            "requires": [{"name": "hypervisor:vmware", "message": "DVS needs vCenter"}]}]}),
    );
    let server = server_with_plugins(&[dvs]).await;
    post_cluster(&server, json!({"name": "kvm", "components": ["hypervisor:core:kvm", "network:ml2:vlan"]}))
        .await
        .expect(201);
    post_cluster(&server, json!({"name": "esx", "components": ["hypervisor:vmware", "network:ml2:vlan"]}))
        .await
        .expect(201);
    let message = set_plugins_enabled(&server, 2, &[("dvs", true)]).await.expect_error(400);
    assert_eq!(message, "plugin `dvs` cannot be enabled: DVS requires any of: vCenter: DVS needs vCenter");
    set_plugins_enabled(&server, 3, &[("dvs", true)]).await.expect(200);
}

#[tokio::test]
async fn enabled_plugin_extends_the_cluster() {
    let rich = with_fields(
        contrail_body(),
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
    let server = server_with_plugins(&[rich]).await;
    let role = |roles: &Value| {
        roles.as_array().unwrap().iter().find(|role| role["name"] == "contrail-control").cloned()
    };
    assert_eq!(role(&server.get("clusters/1/roles").await.expect(200)), None);
    let body =
        json!({"editable": {"contrail": {"metadata": {"enabled": true}, "segments": {"value": "32"}}}});
    server.put("clusters/1/attributes", &body).await.expect(200);
    let plugin_role = role(&server.get("clusters/1/roles").await.expect(200)).unwrap();
    assert_eq!(
        plugin_role["meta"]["restrictions"],
        json!(["settings:contrail.metadata.enabled == false", "false"]),
        "the role is restricted to clusters with the plugin enabled"
    );
    assert_eq!(plugin_role["volumes_roles_mapping"], json!([{"id": "cassandra", "allocate_size": "all"}]));
    let tags = server.get("clusters/1/tags").await.expect(200);
    assert!(tags.as_array().unwrap().iter().any(|tag| tag["name"] == "contrail"));
    let tasks = server.get("clusters/1/deployment_tasks").await.expect(200);
    let ids: Vec<&str> = tasks.as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&"contrail-up") && ids.contains(&"contrail-post_deployment-4000-1"), "{ids:?}");
    // Roles of the cluster may use volumes of the plugin.
    let cluster_role = json!({"name": "own", "meta": {"name": "Own", "description": "d"},
                     "volumes_roles_mapping": [{"id": "cassandra", "allocate_size": "min"}]});
    server.post("clusters/1/roles", &cluster_role).await.expect(201);
    let node = create(&server, "nodes", &json!({"mac": "52:54:00:00:00:01", "status": "discover"})).await;
    server
        .post("clusters/1/assignment", &json!([{"id": node, "roles": ["contrail-control"]}]))
        .await
        .expect(200);
    let facts = server.get("clusters/1/orchestrator/deployment/defaults?split=1").await.expect(200);
    let common = facts.as_array().unwrap().iter().find(|document| document["uid"] == "common").unwrap();
    assert_eq!(common["contrail"]["segments"], "32", "plugin settings are in the common document");
    assert_eq!(common["plugins"][0]["name"], "contrail");
    let plan = server.post("clusters/1/plans", &json!({})).await.expect(201);
    assert_eq!(plan["n_run"], 2, "the graph task on the primary and the stage task: {plan}");
    // The plugin cannot be disabled while a node has its role.
    let message = set_plugins_enabled(&server, 1, &[("contrail", false)]).await.expect_error(400);
    assert!(message.contains("have its role `contrail-control`"), "{message}");
}

/// The workflow of `fuel2 env settings download` and `upload`.
#[tokio::test]
async fn downloaded_settings_round_trip_with_plugin_enabled() {
    let server = server_with_plugins(&[contrail_body()]).await;
    let mut settings = server.get("clusters/1/attributes").await.expect(200);
    let metadata = &mut settings["editable"]["contrail"]["metadata"];
    metadata["enabled"] = json!(true);
    metadata["versions"][0]["segments"]["value"] = json!("64");
    let after = server.put("clusters/1/attributes", &settings).await.expect(200);
    settings["editable"]["contrail"]["value"] = json!(true);
    assert_eq!(after, settings);
    assert_eq!(get_plugin_links(&server, 1).await, [(1, true)]);
    // The upload is idempotent. `metadata.enabled` takes precedence over the legacy `value` switch.
    assert_eq!(server.put("clusters/1/attributes", &after).await.expect(200), after);
    settings["editable"]["contrail"]["metadata"]["enabled"] = json!(false);
    server.put("clusters/1/attributes", &settings).await.expect(200);
    assert_eq!(get_plugin_links(&server, 1).await, [(1, false)]);
    // An edit of either switch applies, also in a document with both.
    let downloaded = server.get("clusters/1/attributes").await.expect(200);
    assert_eq!(downloaded["editable"]["contrail"]["value"], false);
    for is_on in [true, false] {
        let mut edited = server.get("clusters/1/attributes").await.expect(200);
        edited["editable"]["contrail"]["value"] = json!(is_on);
        server.put("clusters/1/attributes", &edited).await.expect(200);
        assert_eq!(get_plugin_links(&server, 1).await, [(1, is_on)]);
    }
    // The legacy `value` switch alone enables the plugin.
    server
        .put("clusters/1/attributes", &json!({"editable": {"contrail": {"value": true}}}))
        .await
        .expect(200);
    assert_eq!(get_plugin_links(&server, 1).await, [(1, true)]);
    let version =
        server.get("clusters/1/attributes").await.expect(200)["editable"]["contrail"]["metadata"]["versions"]
            [0]
        .clone();
    assert_eq!(version.get("value"), None, "`value` is not a setting of the plugin");
}

/// `value: {generator: …}` in the settings of a plugin is generated when the plugin is enabled, and kept afterwards.
#[tokio::test]
async fn generated_settings_of_plugins() {
    let mut body = contrail_body();
    body["attributes_metadata"]["secret"] =
        json!({"type": "password", "label": "Secret", "value": {"generator": "password"}});
    let server = server_with_plugins(&[body]).await;
    let secret = async || {
        let settings = server.get("clusters/1/attributes").await.expect(200);
        settings["editable"]["contrail"]["metadata"]["versions"][0]["secret"]["value"].clone()
    };
    let downloaded = server.get("clusters/1/attributes").await.expect(200);
    let mut edited = downloaded.clone();
    edited["editable"]["contrail"]["metadata"]["enabled"] = json!(true);
    server.put("clusters/1/attributes", &edited).await.expect(200);
    let generated = secret().await;
    assert_eq!(generated.as_str().map(str::len), Some(24), "{generated}");
    set_plugins_enabled(&server, 1, &[("contrail", false)]).await.expect(200);
    set_plugins_enabled(&server, 1, &[("contrail", true)]).await.expect(200);
    assert_eq!(secret().await, generated);
    let created = post_cluster(
        &server,
        json!({"name": "chosen", "components": ["hypervisor:core:kvm", "networking:core:contrail"]}),
    );
    created.await.expect(201);
    let settings = server.get("clusters/2/attributes").await.expect(200);
    let other = &settings["editable"]["contrail"]["metadata"]["versions"][0]["secret"]["value"];
    assert!(other.is_string() && *other != generated, "{other}");
}

/// What a plugin declares for nodes is shown, changed, visible to expressions, and gone when the plugin is off.
#[tokio::test]
async fn node_metadata_of_plugins() {
    let mut body = contrail_body();
    let more = json!({
        "node_attributes_metadata": {"pinning": {"metadata": {"label": "Pinning"}, "cores": {"type": "text", "label": "Cores", "value": "2"}}},
        "nic_attributes_metadata": {"offload": {"type": "checkbox", "label": "Offload", "value": false}},
        "bond_attributes_metadata": {"mode": {"type": "text", "label": "Mode", "value": "lacp"}},
        "network_roles_metadata": [{"id": "contrail/vip", "default_mapping": "public", "properties": {"subnet": true, "gateway": false, "vip": []}}],
        "volumes_metadata": {"volumes": [{"id": "contrail-db", "type": "vg"}], "volumes_roles_mapping": {"contrail-control": [{"id": "contrail-db", "allocate_size": "all"}]}},
    });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let server = server_with_plugins(&[body]).await;
    crate::plans::ready_nodes(&server, &[&["controller"]]).await;
    let path = "nodes/1/attributes".to_owned();
    server.put(&path, &json!({"own": 1})).await.expect(200);
    assert_eq!(server.get(&path).await.expect(200), json!({"own": 1}));
    set_plugins_enabled(&server, 1, &[("contrail", true)]).await.expect(200);
    let attributes = server.get(&path).await.expect(200);
    assert_eq!(attributes["pinning"]["cores"]["value"], "2");
    assert_eq!(attributes["nic_attributes"]["contrail"]["offload"]["value"], false);
    assert_eq!(attributes["bond_attributes"]["contrail"]["mode"]["value"], "lacp");
    assert_eq!(attributes["network_roles"][0]["id"], "contrail/vip");
    assert_eq!((&attributes["volumes"][0]["id"], &attributes["own"]), (&json!("contrail-db"), &json!(1)));
    assert!(attributes["volumes_roles_mapping"]["contrail-control"].is_array());
    let mut edited = attributes.clone();
    edited["pinning"]["cores"]["value"] = json!("8");
    assert_eq!(server.put(&path, &edited).await.expect(200), edited);
    let facts = server.get("clusters/1/orchestrator/deployment").await.expect(200);
    let facts = facts.as_array().unwrap().iter().find(|document| document["uid"] == "1").unwrap();
    assert_eq!(facts["attributes"]["pinning"]["cores"]["value"], "8");
    assert_eq!(facts["attributes"]["nic_attributes"]["contrail"]["offload"]["value"], false);
    set_plugins_enabled(&server, 1, &[("contrail", false)]).await.expect(200);
    assert_eq!(server.get(&path).await.expect(200), json!({"own": 1}));
    set_plugins_enabled(&server, 1, &[("contrail", true)]).await.expect(200);
    assert_eq!(server.get(&path).await.expect(200), attributes, "edits are gone, too");
}
