//! The wizard, and clusters that are made with it.

use serde_json::{Value, json};

use crate::choices::{
    contrail, made, new_cluster, plugin_body, release_with_choices, server_with_contrail, switch, with,
};
use crate::fixtures::rename_release;
use crate::support::TestServer;

fn control<'r>(reply: &'r Value, name: &str) -> &'r Value {
    reply["controls"].as_array().unwrap().iter().find(|control| control["control"] == name).unwrap()
}

async fn evaluated(server: &TestServer, answers: Value) -> Value {
    server.post("releases/1/wizard/evaluate/", &json!({"answers": answers})).await.expect(200)
}

async fn settings(server: &TestServer, cluster_id: i64) -> Value {
    server.get(&format!("clusters/{cluster_id}/attributes")).await.expect(200)["editable"].clone()
}

#[tokio::test]
async fn wizard_merges_plugin_options_with_restrictions() {
    let server = server_with_contrail().await;
    let wizard = server.get("releases/1/wizard/").await.expect(200);
    let panes: Vec<&String> = wizard.as_object().unwrap().keys().collect();
    assert_eq!(panes, ["Mode", "Compute", "Network"], "keys keep the release's spelling");
    let options = &wizard["Network"]["manager"]["values"];
    assert_eq!(options[0]["data"], "vlan");
    assert_eq!(
        options[1],
        json!({"data": "contrail", "label": "Contrail", "bind": [{"settings:contrail.value": true}],
               "component": "network:core:contrail",
               "restrictions": [{"condition": "wizard:Compute.vcenter == true",
                                 "message": "Contrail is not compatible with vCenter", "action": "disable"}]})
    );
    // In clusters without high availability there is no such plugin.
    let wizard = server.get("releases/1/wizard?mode=multinode").await.expect(200);
    assert_eq!(wizard["Network"]["manager"]["values"].as_array().unwrap().len(), 1);
    server.get("releases/9/wizard").await.refused(404);
    server.post("releases/1/wizard", &json!({})).await.expect(405);
}

#[tokio::test]
async fn wizard_conflict_names_both_plugins() {
    let server = TestServer::new().await;
    let rival = with(
        plugin_body("rival", "1.0.0"),
        json!({"wizard_metadata": {"Network": {"manager": {"values": [{"data": "contrail"}]}}, "Moon": {}}}),
    );
    // Nothing is wrong with them until there is a release that both fit.
    made(&server, "plugins", &contrail()).await;
    made(&server, "plugins", &rival).await;
    let told = server.post("releases", &release_with_choices()).await.refused(409);
    assert!(told.contains("plugins `rival` and `contrail`"), "{told}");
    let bare = with(release_with_choices(), json!({"version": "newton-10.0"}));
    made(&server, "releases", &bare).await;
    // An older server may have stored it.
    rename_release(&server, 1, "mitaka-9.0").await;
    let reply = server.get("releases/1/wizard").await.expect(409);
    let errors = reply["errors"].as_array().unwrap();
    assert_eq!(
        (&errors[1]["path"], &errors[1]["kind"], &errors[1]["plugin"]),
        (&json!("Network.manager.values[contrail]"), &json!("duplicate_option"), &json!("rival"))
    );
    assert!(errors[1]["message"].as_str().unwrap().contains("plugins `rival` and `contrail`"), "{reply}");
    assert_eq!((&errors[0]["path"], &errors[0]["kind"]), (&json!("Moon"), &json!("unknown_pane")));
    server.post("releases/1/wizard/evaluate", &json!({})).await.refused(409);
    new_cluster(&server, json!({"wizard": {}})).await.refused(409);
    new_cluster(&server, json!({})).await.expect(201);
}

#[tokio::test]
async fn release_without_wizard_metadata_has_empty_wizard() {
    let server = TestServer::new().await;
    let body = with(release_with_choices(), json!({"wizard_metadata": {}}));
    made(&server, "releases", &body).await;
    made(&server, "plugins", &contrail()).await;
    assert_eq!(server.get("releases/1/wizard").await.expect(200), json!({}));
    assert_eq!(evaluated(&server, json!({})).await["controls"], json!([]));
    let message =
        new_cluster(&server, json!({"wizard": {"Network": {"manager": "contrail"}}})).await.refused(400);
    assert_eq!(message, "wizard.Network.manager: unknown pane or control");
}

/// With vCenter as the only hypervisor the option is disabled, with the reason.
#[tokio::test]
async fn incompatible_options_are_disabled_by_answers() {
    let server = server_with_contrail().await;
    let reply = evaluated(&server, json!({})).await;
    assert_eq!(control(&reply, "manager")["options"][1]["disabled"], false);
    assert_eq!(
        (&reply["components"], &reply["compatible"]),
        (&json!(["hypervisor:core:kvm", "network:ml2:vlan"]), &json!(true))
    );
    let answers = json!({"Compute": {"kvm": false, "vcenter": true}});
    let reply = evaluated(&server, answers).await;
    assert_eq!(
        control(&reply, "manager")["options"][1],
        json!({"data": "contrail", "hidden": false, "disabled": true,
               "messages": ["Contrail is not compatible with vCenter"]})
    );
    assert_eq!((&reply["compatible"], &reply["problems"]), (&json!(true), &json!([])));
}

/// What was chosen and became impossible does not stay chosen.
#[tokio::test]
async fn incompatible_choice_is_dropped() {
    let server = server_with_contrail().await;
    let contrail = evaluated(&server, json!({"Network": {"manager": "contrail"}})).await;
    assert_eq!((&contrail["plugins"], &contrail["compatible"]), (&json!(["contrail"]), &json!(true)));
    let answers = json!({"Compute": {"kvm": false, "vcenter": true}, "Network": {"manager": "contrail"}});
    let reply = evaluated(&server, answers.clone()).await;
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
    // Whoever asks for it all the same is refused with the reason, and nothing is left behind.
    let refused = new_cluster(&server, json!({"wizard": answers})).await.expect(400);
    assert_eq!(refused["message"], "wizard.Network.manager: Contrail is not compatible with vCenter");
    assert_eq!(server.get("clusters").await.expect(200), json!([]));
}

#[tokio::test]
async fn invalid_answers_are_reported_together() {
    let server = server_with_contrail().await;
    let answers =
        json!({"Compute": {"kvm": "yes", "xen": true}, "Network": {"manager": "moon"}, "Ready": {"x": 1}});
    let refused = new_cluster(&server, json!({"wizard": answers})).await.expect(400);
    assert_eq!(refused["errors"].as_array().unwrap().len(), 4, "{refused}");
    for body in [json!({"answers": []}), json!({"answers": {}, "x": 1}), json!({"mode": "moon"}), json!([])] {
        server.post("releases/1/wizard/evaluate", &body).await.refused(400);
    }
    server.post("releases/9/wizard/evaluate", &json!({})).await.refused(404);
    new_cluster(&server, json!({"wizard": []})).await.refused(400);
    assert_eq!(server.get("clusters").await.expect(200), json!([]));
}

#[tokio::test]
async fn cluster_is_created_from_wizard_answers() {
    let server = server_with_contrail().await;
    let cluster =
        new_cluster(&server, json!({"wizard": {"Network": {"manager": "contrail"}}})).await.expect(201);
    assert_eq!(cluster["components"], json!(["hypervisor:core:kvm", "network:core:contrail"]));
    assert_eq!(cluster["mode"], "ha_compact");
    let settings = settings(&server, 1).await;
    let contrail = &settings["contrail"]["metadata"];
    assert_eq!((&contrail["enabled"], &contrail["chosen_id"]), (&json!(true), &json!(1)));
    assert_eq!(settings["contrail"]["value"], true);
    assert_eq!(settings["common"]["libvirt_type"]["value"], "kvm", "what components bind");
    assert_eq!(settings["common"]["libvirt_type"]["type"], "radio", "and nothing else changes");
    let roles = server.get("clusters/1/roles").await.expect(200);
    assert!(roles.as_array().unwrap().iter().any(|role| role["name"] == "contrail-control"));
}

#[tokio::test]
async fn wizard_answer_sets_the_cluster_mode() {
    let server = server_with_contrail().await;
    let answers = json!({"Mode": {"mode": "multinode"}});
    let cluster = new_cluster(&server, json!({"wizard": answers})).await.expect(201);
    assert_eq!(cluster["mode"], "multinode");
    // The plugin is not for this mode.
    let answers = json!({"Mode": {"mode": "multinode"}, "Network": {"manager": "contrail"}});
    let reply = evaluated(&server, answers.clone()).await;
    assert_eq!(control(&reply, "manager")["options"].as_array().unwrap().len(), 1);
    let message = new_cluster(&server, json!({"name": "other", "wizard": answers})).await.refused(400);
    assert_eq!(message, "wizard.Network.manager: \"contrail\" is not an option");
}

#[tokio::test]
async fn cluster_is_created_from_components() {
    let server = server_with_contrail().await;
    let components = json!(["hypervisor:core:kvm", "networking:core:contrail", "hypervisor:core:kvm"]);
    let cluster = new_cluster(&server, json!({"components": components})).await.expect(201);
    assert_eq!(cluster["components"], json!(["hypervisor:core:kvm", "network:core:contrail"]));
    assert_eq!(settings(&server, 1).await["contrail"]["metadata"]["enabled"], true);
    // Without choosing nothing is checked, bound or enabled.
    new_cluster(&server, json!({"name": "plain"})).await.expect(201);
    let settings = settings(&server, 2).await;
    assert_eq!(settings["contrail"]["metadata"]["enabled"], false);
    assert_eq!(settings["common"]["libvirt_type"]["value"], "qemu");
}

#[tokio::test]
async fn invalid_component_selection_is_refused_with_all_reasons() {
    let server = server_with_contrail().await;
    let components = json!(["hypervisor:vmware", "network:core:contrail", "storage:moon"]);
    let refused = new_cluster(&server, json!({"components": components})).await.expect(400);
    let messages: Vec<&str> = refused["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["message"].as_str().unwrap())
        .collect();
    assert_eq!(
        messages,
        ["no release or plugin provides `storage:moon`", "vCenter is not compatible with Contrail"]
    );
    assert_eq!(refused["errors"][1]["kind"], "incompatible");
    assert_eq!(refused["conflicts"][1]["components"], json!(["hypervisor:vmware", "network:core:contrail"]));
    let refused = new_cluster(&server, json!({"components": []})).await.expect(400);
    assert_eq!(refused["errors"].as_array().unwrap().len(), 2, "a hypervisor and a network are needed");
    assert_eq!(server.get("clusters").await.expect(200), json!([]));
}

/// What components and plugins bound stays, whoever is enabled later.
#[tokio::test]
async fn bound_values_are_not_overwritten() {
    let server = TestServer::new().await;
    let mut release = release_with_choices();
    release["components_metadata"][1]["bind"] =
        json!(["settings:common.use_vcenter.value", ["settings:common.libvirt_type.value", "qemu"]]);
    made(&server, "releases", &release).await;
    let binder = with(
        plugin_body("binder", "1.0.0"),
        json!({
            "components_metadata": [{"name": "storage:binder", "bind": [
                ["settings:common.libvirt_type.value", "kvm"], ["settings:binder.size.value", "8"], "settings:common.debug.value"]}],
            "attributes_metadata": {"size": {"type": "text", "value": "1"}, "other": {"type": "text", "value": "2"}},
        }),
    );
    made(&server, "plugins", &binder).await;
    let other = with(
        plugin_body("other", "1.0.0"),
        json!({"attributes_metadata": {"size": {"type": "text", "value": "1"}}}),
    );
    made(&server, "plugins", &other).await;
    let components = json!(["storage:binder", "hypervisor:vmware", "network:ml2:vlan"]);
    new_cluster(&server, json!({"components": components})).await.expect(201);
    let expect = |settings: &Value| {
        assert_eq!(settings["common"]["use_vcenter"]["value"], true);
        assert_eq!(settings["common"]["debug"]["value"], true);
        assert_eq!(settings["common"]["libvirt_type"]["value"], "kvm", "the later binding counts");
        let version = &settings["binder"]["metadata"]["versions"][0];
        assert_eq!((&version["size"]["value"], &version["other"]["value"]), (&json!("8"), &json!("2")));
    };
    expect(&settings(&server, 1).await);
    switch(&server, 1, &[("other", true)]).await.expect(200);
    server
        .put("clusters/1/attributes", &json!({"editable": {"common": {"metadata": {"x": 1}}}}))
        .await
        .expect(200);
    expect(&settings(&server, 1).await);
}

#[tokio::test]
async fn oversized_wizard_is_refused() {
    let server = TestServer::new().await;
    let mut release = release_with_choices();
    let options = (0..201).map(|number| json!({"data": number, "component": "network:ml2:vlan"}));
    release["wizard_metadata"]["Network"]["manager"]["values"] = options.collect();
    made(&server, "releases", &release).await;
    let message = server.get("releases/1/wizard").await.refused(400);
    assert_eq!(message, "the wizard has 203 choices that stand for components; there may be 200");
}
