//! Validation when data is stored instead of when it is used: settings, roles, releases, plugin versions.

use axum::body::Body;
use serde_json::{Value, json};

use crate::component_fixtures::{
    create, plugin_body, post_cluster, release_with_components, server_with_contrail, set_plugins_enabled,
    with_fields,
};
use crate::support::{Reply, TestServer};

#[tokio::test]
async fn regex_mismatch_is_refused_in_settings_and_wizard() {
    let server = TestServer::new().await;
    let regex = json!({"source": "^[a-z]+$", "error": "lower case letters only"});
    let mut release = release_with_components();
    release["attributes_metadata"]["editable"]["access"] =
        json!({"user": {"type": "text", "value": "", "regex": regex}});
    release["wizard_metadata"]["Compute"]["host"] =
        json!({"type": "text", "value": "none", "weight": 90, "regex": regex});
    create(&server, "releases", &release).await;
    let cluster = crate::beginnings::id(&post_cluster(&server, json!({})).await.expect(201));
    let path = format!("clusters/{cluster}/attributes");
    let set = |user: &str| json!({"editable": {"access": {"user": {"value": user}}}});
    let reply = server.put(&path, &set("Ada 1")).await.expect(400);
    assert_eq!(reply["errors"][0]["path"], "editable.access.user.value");
    assert_eq!(reply["message"], "editable.access.user.value: lower case letters only");
    server.put(&path, &set("ada")).await.expect(200);
    // Unchanged values are not validated.
    server.put(&path, &set("ada")).await.expect(200);
    let answers = |host: &str| json!({"name": "other", "wizard": {"Compute": {"host": host}}});
    let reply = post_cluster(&server, answers("A B")).await.expect(400);
    assert_eq!(reply["errors"][0]["path"], "wizard.Compute.host", "{reply}");
    assert_eq!(reply["errors"][0]["message"], "wizard.Compute.host: lower case letters only");
    let evaluated = server
        .post("releases/1/wizard/evaluate", &json!({"answers": {"Compute": {"host": "A"}}}))
        .await
        .expect(200);
    assert_eq!(evaluated["problems"][0]["message"], "lower case letters only", "{evaluated}");
}

#[tokio::test]
async fn incompatible_wizard_answers_return_conflicts() {
    let server = server_with_contrail().await;
    let wizard = server.get("releases/1/wizard").await.expect(200);
    let answers = json!({"Compute": {"vcenter": true}, "Network": {"manager": "contrail"}});
    assert!(wizard["Compute"]["vcenter"].is_object(), "{wizard}");
    let reply = post_cluster(&server, json!({"wizard": answers})).await.expect(400);
    let conflicts = reply["conflicts"].as_array().unwrap_or_else(|| panic!("{reply}"));
    let is_incompatible = |conflict: &&Value| conflict["kind"] == "incompatible";
    let conflict = conflicts.iter().find(is_incompatible).unwrap_or_else(|| panic!("{reply}"));
    assert_eq!(conflict["components"], json!(["hypervisor:vmware", "network:core:contrail"]));
}

#[tokio::test]
async fn release_metadata_is_validated_when_stored() {
    let server = TestServer::new().await;
    let invalid = [
        (json!({"components_metadata": [{"name": "moon:x"}]}), "moon:x"),
        (
            json!({"components_metadata": [{"name": "hypervisor:a"}, {"name": "hypervisor:a"}]}),
            "duplicate component",
        ),
        (json!({"wizard_metadata": {"Compute": 5}}), "a pane must be a map of controls"),
        (json!({"wizard_metadata": {"Compute": {"x": {"type": "wheel"}}}}), "unknown control type `wheel`"),
        (
            json!({"wizard_metadata": {"Compute": {"x": {"type": "checkbox", "restrictions": ["a =="]}}}}),
            "invalid condition",
        ),
        (
            json!({"wizard_metadata": {"Compute": {"x": {"type": "radio", "values": [{"data": 1}, {"data": 1}]}}}}),
            "duplicate option `data`",
        ),
    ];
    for (extra, expected) in &invalid {
        let message = server
            .post("releases", &with_fields(release_with_components(), extra.clone()))
            .await
            .expect_error(400);
        assert!(message.contains(expected), "{extra}: {message}");
    }
    assert_eq!(server.get("releases").await.expect(200), json!([]), "nothing is stored");
    create(&server, "releases", &release_with_components()).await;
    for (extra, expected) in &invalid {
        let message = server.put("releases/1", extra).await.expect_error(400);
        assert!(message.contains(expected), "{extra}: {message}");
    }
    // Legacy wizards omit the prefix `wizard:`.
    let old = json!({"wizard_metadata": {"Compute": {
        "a": {"type": "checkbox"},
        "b": {"type": "checkbox", "restrictions": [{"Compute.a == true": "not beside a"}]},
    }}});
    server.put("releases/1", &old).await.expect(200);
}

#[tokio::test]
async fn plugin_versions_are_validated() {
    let server = TestServer::new().await;
    for version in ["one", "1", "1.0.0.0", "1.0rc1", "1.0 "] {
        let message = server.post("plugins", &plugin_body("p", version)).await.expect_error(400);
        assert!(
            message.contains("version: must be two or three dot-separated numbers"),
            "{version}: {message}"
        );
    }
    for package_version in ["6.0.0", "x", "4", "0.0.0"] {
        let body = with_fields(plugin_body("p", "1.0.0"), json!({"package_version": package_version}));
        let message = server.post("plugins", &body).await.expect_error(400);
        assert!(message.contains("package_version: must be one of 1.0.0, 2.0.0"), "{message}");
    }
    for (name, version, package_version) in
        [("a", "1.0", "4.0.1"), ("b", "1.0.0a2", "5.0.0"), ("c", "2.1b3", "1.0.0")]
    {
        let body = with_fields(plugin_body(name, version), json!({"package_version": package_version}));
        server.post("plugins", &body).await.expect(201);
    }
}

async fn assign(server: &TestServer, cluster: i64, node: i64, role: &str) -> Reply {
    let path = format!("clusters/{cluster}/assignment");
    server.post(&path, &json!([{"id": node, "roles": [role]}])).await
}

#[tokio::test]
async fn role_restrictions_are_checked_on_assignment() {
    let server = TestServer::new().await;
    let mut release = release_with_components();
    release["attributes_metadata"]["editable"]["storage"] =
        json!({"lvm": {"type": "checkbox", "value": false}});
    release["roles_metadata"] = json!({
        "cinder": {"name": "Cinder", "restrictions": [{"settings:storage.lvm.value == false": "LVM is off"}]},
        "odd": {"name": "Odd", "restrictions": ["settings:no.such.setting == 1"]},
        "plain": {"name": "Plain"},
    });
    create(&server, "releases", &release).await;
    let cluster = crate::beginnings::id(&post_cluster(&server, json!({})).await.expect(201));
    let node = crate::beginnings::create_node(&server, 1).await;
    let message = assign(&server, cluster, node, "cinder").await.expect_error(400);
    assert_eq!(message, "Role 'cinder' cannot be assigned: LVM is off");
    assign(&server, cluster, node, "odd").await.expect(200);
    let message =
        server.put(&format!("nodes/{node}"), &json!({"pending_roles": ["cinder"]})).await.expect_error(400);
    assert!(message.contains("LVM is off"), "{message}");
    let path = format!("clusters/{cluster}/attributes");
    let on = |value: bool| json!({"editable": {"storage": {"lvm": {"value": value}}}});
    server.put(&path, &on(true)).await.expect(200);
    assign(&server, cluster, node, "cinder").await.expect(200);
    server.put(&path, &on(false)).await.expect(200);
    assign(&server, cluster, node, "cinder").await.expect(200);
}

#[tokio::test]
async fn legacy_tasks_require_propagate_task_deploy() {
    let server = TestServer::new().await;
    let mut release = release_with_components();
    release["attributes_metadata"]["editable"]["common"]["propagate_task_deploy"] =
        json!({"type": "checkbox", "value": false});
    create(&server, "releases", &release).await;
    let stage = json!([{"role": "*", "stage": "post_deployment", "type": "shell", "parameters": {"cmd": "a", "timeout": 1}}]);
    create(&server, "plugins", &with_fields(plugin_body("staged", "1.0.0"), json!({"tasks": stage}))).await;
    let task = |version: &str| json!([{"id": "t", "type": "shell", "version": version, "roles": "*", "parameters": {"cmd": "a"}}]);
    for (name, version) in [("old", "1.0.0"), ("new", "2.0.0")] {
        let body = with_fields(plugin_body(name, "1.0.0"), json!({"deployment_tasks": task(version)}));
        create(&server, "plugins", &body).await;
    }
    let cluster = crate::beginnings::id(&post_cluster(&server, json!({})).await.expect(201));
    for plugin in ["staged", "old"] {
        let message = set_plugins_enabled(&server, cluster, &[(plugin, true)]).await.expect_error(400);
        assert!(message.contains("`common.propagate_task_deploy` is off"), "{message}");
    }
    set_plugins_enabled(&server, cluster, &[("new", true)]).await.expect(200);
    let settings = server.get(&format!("clusters/{cluster}/attributes")).await.expect(200);
    for (plugin, is_legacy) in [("staged", true), ("old", true), ("new", false)] {
        let version = &settings["editable"][plugin]["metadata"]["versions"][0]["metadata"];
        assert_eq!(version["contains_legacy_tasks"], is_legacy, "{plugin}");
    }
    let both = json!({"editable": {
        "common": {"propagate_task_deploy": {"value": true}}, "staged": {"metadata": {"enabled": true}},
    }});
    server.put(&format!("clusters/{cluster}/attributes"), &both).await.expect(200);
    // Switching it off needs the plugins with such tasks to be off, too.
    let off = json!({"editable": {"common": {"propagate_task_deploy": {"value": false}}}});
    let message = server.put(&format!("clusters/{cluster}/attributes"), &off).await.expect_error(400);
    assert!(message.contains("plugin `staged` is enabled"), "{message}");
    let both = json!({"editable": {
        "common": {"propagate_task_deploy": {"value": false}}, "staged": {"metadata": {"enabled": false}},
    }});
    server.put(&format!("clusters/{cluster}/attributes"), &both).await.expect(200);
}

/// Whichever way an enabled plugin changes.
#[tokio::test]
async fn enabled_plugins_gain_legacy_tasks_only_where_they_run() {
    let server = TestServer::new().await;
    let mut release = release_with_components();
    release["attributes_metadata"]["editable"]["common"]["propagate_task_deploy"] =
        json!({"type": "checkbox", "value": false});
    create(&server, "releases", &release).await;
    let source = crate::packages::PluginSource::new("gridnet", stoker_registry::package::PackageVersion::V5);
    source.remove("wizard_metadata.yaml");
    let plugin = crate::beginnings::id(&crate::packages::upload(&server, source.archive()).await.expect(201));
    let cluster = crate::beginnings::id(&post_cluster(&server, json!({})).await.expect(201));
    set_plugins_enabled(&server, cluster, &[("gridnet", true)]).await.expect(200);
    let require_refused = |message: String| {
        let expected =
            "plugin `gridnet` is enabled in cluster 1 (`demo`), where `common.propagate_task_deploy` is off";
        assert!(message.contains(expected), "{message}");
    };
    let path = format!("plugins/{plugin}");
    let task = |version: &str| json!([{"id": "t", "type": "shell", "version": version, "roles": "*", "parameters": {"cmd": "a"}}]);
    let stage = json!([{"role": "*", "stage": "post_deployment", "type": "shell", "parameters": {"cmd": "a", "timeout": 1}}]);
    require_refused(server.put(&path, &json!({"tasks": stage})).await.expect_error(400));
    require_refused(server.put(&path, &json!({"deployment_tasks": task("1.0.0")})).await.expect_error(400));
    let graph = format!("{path}/deployment_graphs/default");
    require_refused(server.put(&graph, &json!({"tasks": task("1.0.0")})).await.expect_error(400));
    let id = crate::beginnings::id(&server.get(&graph).await.expect(200));
    require_refused(
        server.put(&format!("graphs/{id}"), &json!({"tasks": task("1.0.0")})).await.expect_error(400),
    );
    require_refused(server.put(&format!("graphs/{id}/tasks"), &task("1.0.0")).await.expect_error(400));
    source.write("deployment_tasks.yaml", &task("1.0.0").to_string());
    source.set_version("1.0.1");
    require_refused(crate::packages::upload(&server, source.archive()).await.expect_error(400));
    let installed = crate::packages::plugins_root(&server).join("gridnet-1.0/deployment_tasks.yaml");
    let text = std::fs::read_to_string(&installed).unwrap();
    std::fs::write(&installed, task("1.0.0").to_string()).unwrap();
    require_refused(server.post("plugins/sync", &json!({})).await.expect_error(400));
    std::fs::write(&installed, text).unwrap();
    server.put(&path, &json!({"deployment_tasks": task("2.0.0")})).await.expect(200);
    let on = json!({"editable": {"common": {"propagate_task_deploy": {"value": true}}}});
    server.put(&format!("clusters/{cluster}/attributes"), &on).await.expect(200);
    server.put(&path, &json!({"tasks": stage})).await.expect(200);
    server.put(&path, &json!({"deployment_tasks": task("1.0.0")})).await.expect(200);
}

/// Whichever way a plugin is stored.
#[tokio::test]
async fn fuel_version_is_compared_over_rest() {
    let server = TestServer::new().await;
    let warning = |resource: &Value| resource["warnings"][0].as_str().unwrap_or_default().to_owned();
    let expected = "the plugin supports release `newton-10.0`, but its `fuel_version` names only 9.0";
    let other = json!([{"os": "ubuntu", "version": "newton-10.0", "mode": ["ha"]}]);
    let body = with_fields(plugin_body("addon", "1.0.0"), json!({"releases": other}));
    let created = server.post("plugins", &body).await.expect(201);
    assert_eq!(warning(&created), expected);
    let path = format!("plugins/{}", created["id"]);
    assert_eq!(warning(&server.put(&path, &json!({"title": "A"})).await.expect(200)), expected);
    let both = server.put(&path, &json!({"fuel_version": ["9.0", "10.0"]})).await.expect(200);
    assert_eq!(both["warnings"], Value::Null);
    let source = crate::packages::PluginSource::new("gridnet", stoker_registry::package::PackageVersion::V5);
    source.edit("metadata.yaml", "version: mitaka-9.0", "version: newton-10.0");
    let installed = crate::packages::upload(&server, source.archive()).await.expect(201);
    assert!(warning(&installed).contains(expected), "{installed}");
    assert_eq!(installed["warnings"].as_array().map(Vec::len), Some(1), "{installed}");
    let synchronized = server.post("plugins/sync", &json!({})).await.expect(200);
    assert!(warning(&synchronized).contains(expected), "{synchronized}");
}

#[tokio::test]
async fn duplicate_keys_are_reported_on_sync() {
    let server = TestServer::new().await;
    let source = crate::packages::PluginSource::new("gridnet", stoker_registry::package::PackageVersion::V5);
    crate::packages::upload(&server, source.archive()).await.expect(201);
    let file = crate::packages::plugins_root(&server).join("gridnet-1.0/environment_config.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{text}\nodd: 1\nodd: 2\n")).unwrap();
    let request = server.request("POST", "plugins/sync/").body(Body::from("{}")).unwrap();
    let reply = server.send(request).await.expect(200);
    let warnings = reply["warnings"].as_array().unwrap_or_else(|| panic!("{reply}"));
    let warning = warnings[0].as_str().unwrap();
    assert!(
        warning.starts_with("gridnet-1.0/environment_config.yaml:") && warning.contains("odd"),
        "{warning}"
    );
    std::fs::write(&file, text).unwrap();
    let request = server.request("POST", "plugins/sync/").body(Body::from("{}")).unwrap();
    assert_eq!(server.send(request).await.expect(200), json!({}));
}
