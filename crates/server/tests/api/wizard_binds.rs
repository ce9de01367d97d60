//! Binds and restrictions of wizards: the values that answers set in a cluster, and warnings about ineffective ones.

use serde_json::{Value, json};

use crate::beginnings::create_node;
use crate::component_fixtures::{
    create, plugin_body, post_cluster, release_with_components, server_with_contrail, with_fields,
};
use crate::runs::task;
use crate::support::TestServer;

#[tokio::test]
async fn bound_segmentation_is_stored() {
    let server = server_with_contrail().await;
    let mut tunnels = plugin_body("tunnels", "1.0.0");
    tunnels["wizard_metadata"] = json!({"Network": {"manager": {"values": [
        {"data": "stt", "component": "network:ml2:vlan", "bind": [{"cluster:net_segment_type": "stt"}, {"cluster:net_provider": "nsx"}]}]}}});
    tunnels["attributes_metadata"] = json!({"metadata": {"restrictions": [
        {"condition": "cluster:net_segment_type != 'stt'", "action": "hide"}]}});
    create(&server, "plugins", &tunnels).await;
    let body = json!({"wizard": {"Network": {"manager": "stt"}}, "net_segment_type": "vlan"});
    let cluster = post_cluster(&server, body).await.expect(201);
    assert_eq!((&cluster["net_segment_type"], &cluster["net_provider"]), (&json!("stt"), &json!("nsx")));
    let again = server.get("clusters/1").await.expect(200);
    assert_eq!(again["net_segment_type"], "stt");
    let state = server.get("clusters/1/orchestrator/deployment?split=1").await.expect(200);
    assert_eq!(state[0]["cluster"]["net_segment_type"], "stt", "{state}");
    let restrictions = server.get("clusters/1/attributes/restrictions").await.expect(200);
    assert_eq!(restrictions, json!([]));
    // Without a bind it is that of the request, or of the network component.
    let cluster = post_cluster(&server, json!({"name": "gre", "net_segment_type": "gre"})).await.expect(201);
    assert_eq!(cluster["net_segment_type"], "gre");
    let cluster = post_cluster(&server, json!({"name": "plain", "net_segment_type": ""})).await.expect(201);
    assert_eq!(cluster["net_segment_type"], "vlan");
}

/// A wizard with a radio control that binds its value to the segmentation type.
fn segmentation_wizard() -> Value {
    json!({"Network": {
        "segments": {"type": "radio", "bind": "cluster:net_segment_type", "values": [{"data": "vlan"}, {"data": "tun"}]},
        "flag": {"type": "checkbox", "bind": "cluster:net_provider"},
    }})
}

#[tokio::test]
async fn expressions_see_the_bound_segmentation() {
    let server = TestServer::new().await;
    let tasks = json!([task(
        "tunnels",
        json!("*"),
        "true",
        json!({"condition": {"yaql_exp": "$.cluster.net_segment_type = 'tun'"}})
    )]);
    let release = json!({"wizard_metadata": segmentation_wizard(), "deployment_tasks": tasks, "components_metadata": [],
                         "required_component_types": []});
    create(&server, "releases", &with_fields(release_with_components(), release)).await;
    for (segments, expected) in [("tun", 1_u8), ("vlan", 0)] {
        let answers = json!({"Network": {"segments": segments, "flag": false}});
        let body = json!({"name": segments, "wizard": answers});
        let message = post_cluster(&server, body.clone()).await.expect_error(400);
        assert!(
            message.contains("a bind sets `cluster:net_provider` to false, but it must be text"),
            "{message}"
        );
        let evaluation =
            server.post("releases/1/wizard/evaluate", &json!({"answers": answers})).await.expect(200);
        assert_eq!(
            evaluation["problems"][0]["message"].as_str().map(|text| message.contains(text)),
            Some(true)
        );
        server.put("releases/1", &json!({"wizard_metadata": {"Network": {"segments": segmentation_wizard()["Network"]["segments"]}}})).await.expect(200);
        let cluster =
            post_cluster(&server, json!({"name": segments, "wizard": {"Network": {"segments": segments}}}))
                .await
                .expect(201);
        assert_eq!(cluster["net_segment_type"], segments);
        let node = create_node(&server, expected + 1).await;
        let path = format!("clusters/{}", cluster["id"]);
        server
            .post(&format!("{path}/assignment"), &json!([{"id": node, "roles": ["compute"]}]))
            .await
            .expect(200);
        let plan = server.post(&format!("{path}/plans"), &json!({})).await.expect(201);
        let running = server.get(&format!("plans/{}/instances?action=run", plan["id"])).await.expect(200);
        assert_eq!(running.as_array().map(Vec::len), Some(usize::from(expected)), "{running}");
        server.put("releases/1", &json!({"wizard_metadata": segmentation_wizard()})).await.expect(200);
    }
}

/// Placeholders and binds without an effect are warnings of releases and of plugins, and disable nothing.
#[tokio::test]
async fn ineffective_wizard_fields_are_reported() {
    let server = TestServer::new().await;
    let control = json!({"type": "checkbox", "restrictions": [{"some_restriction": "why"}], "bind": [{"cluster:moon": 1}]});
    let option = json!({"data": "a", "restrictions": ["some_restriction"]});
    let pane = |name: &str| {
        json!({"Network": {
            format!("{name}_flag"): control, format!("{name}_kind"): {"type": "radio", "values": [option]},
        }})
    };
    let mut release = release_with_components();
    release["wizard_metadata"]["Network"]
        .as_object_mut()
        .unwrap()
        .extend(pane("own")["Network"].as_object().unwrap().clone());
    let restrictions = json!(["some_restriction"]);
    release["attributes_metadata"]["editable"]["common"]["debug"]["restrictions"] = restrictions.clone();
    release["roles_metadata"]["compute"]["restrictions"] = restrictions.clone();
    let more = json!({
        "wizard_metadata": pane("addon"),
        "attributes_metadata": {"level": {"type": "text", "value": "", "label": "Level", "restrictions": restrictions}},
        "roles_metadata": {"addon": {"name": "A", "restrictions": [{"condition": "some_restriction"}]}},
    });
    let plugin = with_fields(plugin_body("addon", "1.0.0"), more);
    let release = server.post("releases", &release).await.expect(201);
    let plugin = server.post("plugins", &plugin).await.expect(201);
    let texts = |resource: &Value| -> Vec<String> {
        resource["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|text| text.as_str().unwrap().to_owned())
            .collect()
    };
    for (name, warnings) in [("own", texts(&release)), ("addon", texts(&plugin))] {
        assert_eq!(warnings.len(), 5, "{warnings:?}");
        for part in ["the bind `cluster:moon` has no effect", "`some_restriction` is a placeholder", name] {
            assert!(warnings.iter().any(|text| text.contains(part)), "{part}: {warnings:?}");
        }
    }
    // Responses have the settings and roles of a release, and no wizards.
    for (path, resource, n_warnings) in [("releases/1", &release, Some(2)), ("plugins/1", &plugin, None)] {
        let again = server.put(path, resource).await.expect(200);
        assert_eq!(again["warnings"].as_array().map(Vec::len), n_warnings, "{again}");
        assert_eq!(server.get(path).await.expect(200)["warnings"], Value::Null);
    }
    let answers =
        json!({"Network": {"own_flag": true, "own_kind": "a", "addon_flag": true, "addon_kind": "a"}});
    let evaluation =
        server.post("releases/1/wizard/evaluate", &json!({"answers": answers})).await.expect(200);
    assert_eq!(evaluation["problems"], json!([]));
    let controls = evaluation["controls"].as_array().unwrap();
    assert!(controls.iter().all(|control| control["disabled"] == false), "{evaluation}");
    let cluster = post_cluster(&server, json!({"wizard": answers})).await.expect(201);
    assert_eq!(cluster["components"], json!(["hypervisor:core:kvm", "network:ml2:vlan"]));
    let restricted = server.get("clusters/1/attributes/restrictions").await.expect(200);
    assert_eq!(restricted, json!([]));
    let node = create_node(&server, 1).await;
    server.post("clusters/1/assignment", &json!([{"id": node, "roles": ["compute"]}])).await.expect(200);
    let invalid = with_fields(
        plugin_body("wrong", "1.0.0"),
        json!({"wizard_metadata": {"Network": {"x": {"type": "knob"}}}}),
    );
    let message = server.post("plugins", &invalid).await.expect_error(400);
    assert!(message.contains("unknown control type `knob`"), "{message}");
}

/// The page and the refusal of the cluster name components in the same words.
#[tokio::test]
async fn conflicts_have_the_same_words_before_and_after() {
    let server = TestServer::new().await;
    let mut release = release_with_components();
    release["wizard_metadata"] = json!({
        "Compute": {"hypervisor": {"type": "radio", "values": [
            {"data": "kvm", "label": "Own KVM", "component": "hypervisor:core:kvm"}]}},
        "Storage": {"lvm": {"type": "checkbox", "label": "Use LVM", "component": "storage:block:lvm"}},
    });
    let none_of = json!({"none_of": {"items": ["storage:block:*"]}});
    release["components_metadata"][0]["requires"] = json!([none_of]);
    release["required_component_types"] = json!(["hypervisor"]);
    create(&server, "releases", &release).await;
    let answers = json!({"Storage": {"lvm": true}});
    let conflicts = async || {
        let evaluation =
            server.post("releases/1/wizard/evaluate", &json!({"answers": answers})).await.expect(200);
        let refused = post_cluster(&server, json!({"wizard": answers})).await.expect(400);
        assert_eq!((&evaluation["problems"], evaluation["compatible"] == false), (&json!([]), true));
        assert_eq!(evaluation["conflicts"], refused["conflicts"]);
        refused["conflicts"].to_string()
    };
    let text = conflicts().await;
    assert!(text.contains("Own KVM requires none of: Use LVM"), "{text}");
    // A requirement that nothing satisfies disables the only option, so that the hypervisor is missing.
    release["components_metadata"][0]["requires"] = json!([{"any_of": {"items": ["monitoring:x:*"]}}]);
    let changed = json!({"components_metadata": release["components_metadata"]});
    server.put("releases/1", &changed).await.expect(200);
    let text = conflicts().await;
    assert!(text.contains("a component of type `hypervisor` must be selected"), "{text}");
    let wizard = server.get("releases/1/wizard").await.expect(200).to_string();
    assert!(wizard.contains("Own KVM requires any of: X (not installed)"), "{wizard}");
}
