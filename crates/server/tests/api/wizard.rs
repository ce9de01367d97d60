//! The wizard and clusters created from its answers.

use serde_json::{Value, json};

use crate::component_fixtures::{
    contrail_body, create, plugin_body, post_cluster, release_with_components, server_with_contrail,
    set_plugins_enabled, with_fields,
};
use crate::fixtures::set_release_version;
use crate::support::TestServer;

fn control<'r>(reply: &'r Value, name: &str) -> &'r Value {
    reply["controls"].as_array().unwrap().iter().find(|control| control["control"] == name).unwrap()
}

async fn evaluate(server: &TestServer, answers: Value) -> Value {
    server.post("releases/1/wizard/evaluate/", &json!({"answers": answers})).await.expect(200)
}

async fn get_settings(server: &TestServer, cluster_id: i64) -> Value {
    server.get(&format!("clusters/{cluster_id}/attributes")).await.expect(200)["editable"].clone()
}

#[tokio::test]
async fn wizard_merges_plugin_options_with_restrictions() {
    let server = server_with_contrail().await;
    let wizard = server.get("releases/1/wizard/").await.expect(200);
    let panes: Vec<&String> = wizard.as_object().unwrap().keys().collect();
    assert_eq!(panes, ["Mode", "Compute", "Network"], "keys keep the spelling of the release");
    let options = &wizard["Network"]["manager"]["values"];
    assert_eq!(options[0]["data"], "vlan");
    assert_eq!(
        options[1],
        json!({"data": "contrail", "label": "Contrail", "bind": [{"settings:contrail.value": true}],
               "component": "network:core:contrail",
               "restrictions": [{"condition": "wizard:Compute.vcenter == true",
                                 "message": "Contrail is not compatible with vCenter", "action": "disable"}]})
    );
    // The plugin does not support the mode `multinode`.
    let wizard = server.get("releases/1/wizard?mode=multinode").await.expect(200);
    assert_eq!(wizard["Network"]["manager"]["values"].as_array().unwrap().len(), 1);
    server.get("releases/9/wizard").await.expect_error(404);
    server.post("releases/1/wizard", &json!({})).await.expect(405);
}

#[tokio::test]
async fn wizard_conflict_names_both_plugins() {
    let server = TestServer::new().await;
    let rival = with_fields(
        plugin_body("rival", "1.0.0"),
        json!({"wizard_metadata": {"Network": {"manager": {"values": [{"data": "contrail"}]}}, "Moon": {}}}),
    );
    // The plugins conflict only when a release supports both.
    create(&server, "plugins", &contrail_body()).await;
    create(&server, "plugins", &rival).await;
    let error = server.post("releases", &release_with_components()).await.expect_error(409);
    assert!(error.contains("plugins `rival` and `contrail`"), "{error}");
    let bare = with_fields(release_with_components(), json!({"version": "newton-10.0"}));
    create(&server, "releases", &bare).await;
    // An older server may have stored such a release.
    set_release_version(&server, 1, "mitaka-9.0").await;
    let reply = server.get("releases/1/wizard").await.expect(409);
    let errors = reply["errors"].as_array().unwrap();
    assert_eq!(
        (&errors[1]["path"], &errors[1]["kind"], &errors[1]["plugin"]),
        (&json!("Network.manager.values[contrail]"), &json!("duplicate_option"), &json!("rival"))
    );
    assert!(errors[1]["message"].as_str().unwrap().contains("plugins `rival` and `contrail`"), "{reply}");
    assert_eq!((&errors[0]["path"], &errors[0]["kind"]), (&json!("Moon"), &json!("unknown_pane")));
    server.post("releases/1/wizard/evaluate", &json!({})).await.expect_error(409);
    post_cluster(&server, json!({"wizard": {}})).await.expect_error(409);
    post_cluster(&server, json!({})).await.expect(201);
}

#[tokio::test]
async fn release_without_wizard_and_components_has_empty_wizard() {
    let server = TestServer::new().await;
    let without = json!({"wizard_metadata": {}, "components_metadata": []});
    create(&server, "releases", &with_fields(release_with_components(), without)).await;
    create(&server, "plugins", &contrail_body()).await;
    assert_eq!(server.get("releases/1/wizard").await.expect(200), json!({}));
    assert_eq!(evaluate(&server, json!({})).await["controls"], json!([]));
    let message = post_cluster(&server, json!({"wizard": {"Network": {"manager": "contrail"}}}))
        .await
        .expect_error(400);
    assert_eq!(message, "wizard.Network.manager: unknown pane or control");
}

/// The wizard is generated from components, and the answers to it are a component selection.
#[tokio::test]
async fn release_with_components_gets_a_generated_wizard() {
    let server = TestServer::new().await;
    let without = with_fields(release_with_components(), json!({"wizard_metadata": {}}));
    create(&server, "releases", &without).await;
    create(&server, "plugins", &contrail_body()).await;
    let wizard = server.get("releases/1/wizard").await.expect(200);
    let panes: Vec<&String> = wizard.as_object().unwrap().keys().collect();
    assert_eq!(panes, ["Compute", "Network", "Storage"]);
    assert_eq!(wizard["Network"]["metadata"], json!({"label": "Network", "required": true}));
    assert_eq!(wizard["Compute"]["core_kvm"]["value"], true);
    let contrail = &wizard["Network"]["manager"]["values"][1];
    assert_eq!(
        (&contrail["data"], &contrail["component"]),
        (&json!("contrail"), &json!("network:core:contrail"))
    );
    // No network is selected by default, but one is required.
    let reply = evaluate(&server, json!({})).await;
    assert_eq!(
        (&reply["components"], &reply["compatible"]),
        (&json!(["hypervisor:core:kvm"]), &json!(false))
    );
    assert_eq!(reply["conflicts"][0]["message"], "a component of type `network` must be selected");
    let error = post_cluster(&server, json!({"wizard": {"Compute": {"core_kvm": false}}})).await.expect(400);
    assert_eq!(error["errors"].as_array().unwrap().len(), 2, "{error}");
    let answers = json!({"Compute": {"vmware": true}, "Network": {"ml2_vlan": true, "manager": "contrail"}});
    let reply = evaluate(&server, answers).await;
    assert_eq!(
        control(&reply, "manager")["options"][1]["messages"],
        json!(["Contrail is not compatible with vCenter", "Contrail is not compatible with VLAN"])
    );
    let answers = json!({"Network": {"manager": "contrail"}});
    let reply = evaluate(&server, answers.clone()).await;
    assert_eq!((&reply["compatible"], &reply["plugins"]), (&json!(true), &json!(["contrail"])));
    let cluster = post_cluster(&server, json!({"wizard": answers})).await.expect(201);
    assert_eq!(cluster["components"], json!(["hypervisor:core:kvm", "network:core:contrail"]));
    let settings = get_settings(&server, 1).await;
    assert_eq!(settings["contrail"]["metadata"]["enabled"], true);
    assert_eq!(settings["common"]["libvirt_type"]["value"], "kvm");
}

/// Evaluation and creation agree about plugins that the answers enable.
#[tokio::test]
async fn evaluation_reports_why_a_plugin_cannot_be_enabled() {
    let server = server_with_contrail().await;
    let rival = with_fields(
        plugin_body("rival", "1.0.0"),
        json!({
            "provides": [{"name": "monitoring:rival", "compatible_hypervisors": ["all"]}],
            "roles_metadata": {"contrail-control": {"name": "Mine"}},
            "wizard_metadata": {"Compute": {"watch": {"type": "checkbox", "label": "Watch"}}},
        }),
    );
    create(&server, "plugins", &rival).await;
    let answers = json!({"Compute": {"watch": true}, "Network": {"manager": "contrail"}});
    let reply = evaluate(&server, answers.clone()).await;
    assert_eq!((&reply["plugins"], &reply["compatible"]), (&json!(["contrail", "rival"]), &json!(false)));
    let error = post_cluster(&server, json!({"wizard": answers})).await.expect(400);
    assert_eq!(reply["conflicts"][0]["message"], error["errors"][0]["message"]);
}

/// A checkbox of a plugin with one component for the pane selects that component.
#[tokio::test]
async fn checkbox_of_a_plugin_is_linked_to_its_component() {
    let server = TestServer::new().await;
    create(&server, "releases", &release_with_components()).await;
    let mut body = contrail_body();
    body["wizard_metadata"] = json!({"Network": {"contrail": {"type": "checkbox", "label": "Use Contrail"}}});
    create(&server, "plugins", &body).await;
    let wizard = server.get("releases/1/wizard").await.expect(200);
    assert_eq!(wizard["Network"]["contrail"]["component"], "network:core:contrail");
    let answers = json!({"Compute": {"kvm": false, "vcenter": true}, "Network": {"contrail": true}});
    let reply = evaluate(&server, answers.clone()).await;
    let expected = "Use Contrail is not compatible with vCenter";
    assert_eq!(control(&reply, "contrail")["messages"][0], expected);
    let error = post_cluster(&server, json!({"wizard": answers})).await.expect_error(400);
    assert!(error.contains(expected), "{error}");
}

/// With vCenter as the only hypervisor, the option is disabled with the reason.
#[tokio::test]
async fn incompatible_options_are_disabled_by_answers() {
    let server = server_with_contrail().await;
    let reply = evaluate(&server, json!({})).await;
    assert_eq!(control(&reply, "manager")["options"][1]["disabled"], false);
    assert_eq!(
        (&reply["components"], &reply["compatible"]),
        (&json!(["hypervisor:core:kvm", "network:ml2:vlan"]), &json!(true))
    );
    let answers = json!({"Compute": {"kvm": false, "vcenter": true}});
    let reply = evaluate(&server, answers).await;
    assert_eq!(
        control(&reply, "manager")["options"][1],
        json!({"data": "contrail", "hidden": false, "disabled": true,
               "messages": ["Contrail is not compatible with vCenter"]})
    );
    assert_eq!((&reply["compatible"], &reply["problems"]), (&json!(true), &json!([])));
}

/// An answer that became incompatible is replaced by the default.
#[tokio::test]
async fn incompatible_choice_is_dropped() {
    let server = server_with_contrail().await;
    let contrail = evaluate(&server, json!({"Network": {"manager": "contrail"}})).await;
    assert_eq!((&contrail["plugins"], &contrail["compatible"]), (&json!(["contrail"]), &json!(true)));
    let answers = json!({"Compute": {"kvm": false, "vcenter": true}, "Network": {"manager": "contrail"}});
    let reply = evaluate(&server, answers.clone()).await;
    let manager = control(&reply, "manager");
    assert_eq!((&manager["value"], &manager["dropped"]), (&json!("vlan"), &json!(true)));
    assert_eq!(
        reply["problems"],
        json!([{"path": "Network.manager", "kind": "restricted", "message": "Contrail is not compatible with vCenter"}])
    );
    assert_eq!(
        (&reply["plugins"], &reply["components"]),
        (&json!([]), &json!(["hypervisor:vmware", "network:ml2:vlan"]))
    );
    // Creating a cluster with this answer is refused with the reason, and nothing is stored.
    let error = post_cluster(&server, json!({"wizard": answers})).await.expect(400);
    assert_eq!(error["message"], "wizard.Network.manager: Contrail is not compatible with vCenter");
    assert_eq!(server.get("clusters").await.expect(200), json!([]));
}

#[tokio::test]
async fn invalid_answers_are_reported_together() {
    let server = server_with_contrail().await;
    let answers =
        json!({"Compute": {"kvm": "yes", "xen": true}, "Network": {"manager": "moon"}, "Ready": {"x": 1}});
    let error = post_cluster(&server, json!({"wizard": answers})).await.expect(400);
    assert_eq!(error["errors"].as_array().unwrap().len(), 4, "{error}");
    for body in [json!({"answers": []}), json!({"answers": {}, "x": 1}), json!({"mode": "moon"}), json!([])] {
        server.post("releases/1/wizard/evaluate", &body).await.expect_error(400);
    }
    server.post("releases/9/wizard/evaluate", &json!({})).await.expect_error(404);
    post_cluster(&server, json!({"wizard": []})).await.expect_error(400);
    assert_eq!(server.get("clusters").await.expect(200), json!([]));
}

#[tokio::test]
async fn cluster_is_created_from_wizard_answers() {
    let server = server_with_contrail().await;
    let cluster =
        post_cluster(&server, json!({"wizard": {"Network": {"manager": "contrail"}}})).await.expect(201);
    assert_eq!(cluster["components"], json!(["hypervisor:core:kvm", "network:core:contrail"]));
    assert_eq!(cluster["mode"], "ha_compact");
    let settings = get_settings(&server, 1).await;
    let contrail = &settings["contrail"]["metadata"];
    assert_eq!((&contrail["enabled"], &contrail["chosen_id"]), (&json!(true), &json!(1)));
    assert_eq!(settings["contrail"]["value"], true);
    assert_eq!(settings["common"]["libvirt_type"]["value"], "kvm", "components set bound values");
    assert_eq!(settings["common"]["libvirt_type"]["type"], "radio", "other keys are unchanged");
    let roles = server.get("clusters/1/roles").await.expect(200);
    assert!(roles.as_array().unwrap().iter().any(|role| role["name"] == "contrail-control"));
}

#[tokio::test]
async fn wizard_answer_sets_the_cluster_mode() {
    let server = server_with_contrail().await;
    let answers = json!({"Mode": {"mode": "multinode"}});
    let cluster = post_cluster(&server, json!({"wizard": answers})).await.expect(201);
    assert_eq!(cluster["mode"], "multinode");
    // The plugin does not support this mode.
    let answers = json!({"Mode": {"mode": "multinode"}, "Network": {"manager": "contrail"}});
    let reply = evaluate(&server, answers.clone()).await;
    assert_eq!(control(&reply, "manager")["options"].as_array().unwrap().len(), 1);
    let message = post_cluster(&server, json!({"name": "other", "wizard": answers})).await.expect_error(400);
    assert_eq!(message, "wizard.Network.manager: \"contrail\" is not an option");
}

#[tokio::test]
async fn cluster_is_created_from_components() {
    let server = server_with_contrail().await;
    let components = json!(["hypervisor:core:kvm", "networking:core:contrail", "hypervisor:core:kvm"]);
    let cluster = post_cluster(&server, json!({"components": components})).await.expect(201);
    assert_eq!(cluster["components"], json!(["hypervisor:core:kvm", "network:core:contrail"]));
    assert_eq!(get_settings(&server, 1).await["contrail"]["metadata"]["enabled"], true);
    // Without chosen components nothing is checked, bound or enabled.
    post_cluster(&server, json!({"name": "plain"})).await.expect(201);
    let settings = get_settings(&server, 2).await;
    assert_eq!(settings["contrail"]["metadata"]["enabled"], false);
    assert_eq!(settings["common"]["libvirt_type"]["value"], "qemu");
}

#[tokio::test]
async fn invalid_component_selection_is_refused_with_all_reasons() {
    let server = server_with_contrail().await;
    let components = json!(["hypervisor:vmware", "network:core:contrail", "storage:moon"]);
    let response = post_cluster(&server, json!({"components": components})).await.expect(400);
    let messages: Vec<&str> = response["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["message"].as_str().unwrap())
        .collect();
    assert_eq!(
        messages,
        ["no release or plugin provides `storage:moon`", "vCenter is not compatible with Contrail"]
    );
    assert_eq!(response["errors"][1]["kind"], "incompatible");
    assert_eq!(response["conflicts"][1]["components"], json!(["hypervisor:vmware", "network:core:contrail"]));
    let response = post_cluster(&server, json!({"components": []})).await.expect(400);
    assert_eq!(response["errors"].as_array().unwrap().len(), 2, "a hypervisor and a network are required");
    assert_eq!(server.get("clusters").await.expect(200), json!([]));
}

/// Values bound by components and plugins are kept when other plugins are enabled later.
#[tokio::test]
async fn bound_values_are_not_overwritten() {
    let server = TestServer::new().await;
    let mut release = release_with_components();
    release["components_metadata"][1]["bind"] =
        json!(["settings:common.use_vcenter.value", ["settings:common.libvirt_type.value", "qemu"]]);
    create(&server, "releases", &release).await;
    let binder = with_fields(
        plugin_body("binder", "1.0.0"),
        json!({
            "components_metadata": [{"name": "storage:binder", "bind": [
                ["settings:common.libvirt_type.value", "kvm"], ["settings:binder.size.value", "8"], "settings:common.debug.value"]}],
            "attributes_metadata": {"size": {"type": "text", "value": "1"}, "other": {"type": "text", "value": "2"}},
        }),
    );
    create(&server, "plugins", &binder).await;
    let other = with_fields(
        plugin_body("other", "1.0.0"),
        json!({"attributes_metadata": {"size": {"type": "text", "value": "1"}}}),
    );
    create(&server, "plugins", &other).await;
    let components = json!(["storage:binder", "hypervisor:vmware", "network:ml2:vlan"]);
    post_cluster(&server, json!({"components": components})).await.expect(201);
    let expect = |settings: &Value| {
        assert_eq!(settings["common"]["use_vcenter"]["value"], true);
        assert_eq!(settings["common"]["debug"]["value"], true);
        assert_eq!(settings["common"]["libvirt_type"]["value"], "kvm", "the later binding takes precedence");
        let version = &settings["binder"]["metadata"]["versions"][0];
        assert_eq!((&version["size"]["value"], &version["other"]["value"]), (&json!("8"), &json!("2")));
    };
    expect(&get_settings(&server, 1).await);
    set_plugins_enabled(&server, 1, &[("other", true)]).await.expect(200);
    server
        .put("clusters/1/attributes", &json!({"editable": {"common": {"metadata": {"x": 1}}}}))
        .await
        .expect(200);
    expect(&get_settings(&server, 1).await);
}

/// `cluster:net_segment_type` is stored, shown and visible to conditions and expressions.
#[tokio::test]
async fn oversized_wizard_is_refused() {
    let server = TestServer::new().await;
    let mut release = release_with_components();
    let options = (0..201).map(|number| json!({"data": number, "component": "network:ml2:vlan"}));
    release["wizard_metadata"]["Network"]["manager"]["values"] = options.collect();
    create(&server, "releases", &release).await;
    let message = server.get("releases/1/wizard").await.expect_error(400);
    assert_eq!(message, "the wizard has 203 component choices; the maximum is 200");
}
