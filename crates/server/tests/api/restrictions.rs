//! Restrictions of settings.

use serde_json::{Value, json};

use crate::component_fixtures::{
    create, plugin_body, post_cluster, release_with_components, set_plugins_enabled, with_fields,
};
use crate::support::TestServer;

const PATH: &str = "clusters/1/attributes";

async fn prepared_server() -> TestServer {
    let server = TestServer::new().await;
    let mut release = release_with_components();
    release["attributes_metadata"]["editable"]["storage"] = json!({
        "metadata": {"label": "Storage"},
        "ceph": {"type": "checkbox", "value": false},
        "lvm": {"type": "checkbox", "value": false, "restrictions": [{"settings:storage.ceph.value == true": "LVM does not go with Ceph"}]},
        "odd": {"type": "checkbox", "value": true, "restrictions": [{"condition": "true", "message": "as the release proposes it"}]},
        "pool": {"type": "text", "value": "x", "restrictions": [
            {"condition": "settings:storage.ceph.value == false", "action": "hide"}]},
        "backend": {"type": "radio", "value": "file", "values": [
            {"data": "file"}, {"data": "rbd", "restrictions": [{"settings:storage.ceph.value == false": "needs Ceph"}]}]},
        "lost": {"type": "text", "value": "", "restrictions": ["networking_parameters:net_manager == 'vlan'"]},
    });
    create(&server, "releases", &release).await;
    let guarded = with_fields(
        plugin_body("guarded", "1.0.0"),
        json!({"attributes_metadata": {
            "metadata": {"restrictions": [{"settings:storage.ceph.value == true": "not beside Ceph"}]},
            "box": {"type": "checkbox", "value": false, "restrictions": [
                {"condition": "settings:guarded.size.value == 'small'", "message": "too small"}]},
            "size": {"type": "text", "value": "small"},
        }}),
    );
    create(&server, "plugins", &guarded).await;
    post_cluster(&server, json!({})).await.expect(201);
    server
}

fn settings_body(section: &str, values: Value) -> Value {
    let values =
        values.as_object().unwrap().iter().map(|(key, value)| (key.clone(), json!({"value": value})));
    json!({"editable": {section: values.collect::<serde_json::Map<_, _>>()}})
}

async fn list_restrictions(server: &TestServer) -> Vec<String> {
    let restrictions = server.get("clusters/1/attributes/restrictions/").await.expect(200);
    let describe = |restriction: &Value| {
        let flags = ["hidden", "disabled", "violated"].into_iter().filter(|flag| restriction[*flag] == true);
        format!("{} {}", restriction["path"].as_str().unwrap(), flags.collect::<Vec<_>>().join(" "))
    };
    restrictions.as_array().unwrap().iter().map(describe).collect()
}

#[tokio::test]
async fn restrictions_list_hidden_and_disabled_settings() {
    let server = prepared_server().await;
    assert_eq!(
        list_restrictions(&server).await,
        [
            "storage.odd disabled violated",
            "storage.pool hidden",
            "storage.backend[rbd] disabled",
            "storage.lost ",
            "guarded.box disabled"
        ]
    );
    let restrictions = server.get("clusters/1/attributes/restrictions").await.expect(200);
    assert_eq!(restrictions[2]["messages"], json!(["needs Ceph"]));
    assert_eq!((&restrictions[2]["setting"], &restrictions[2]["option"]), (&json!("backend"), &json!("rbd")));
    assert!(restrictions[3]["errors"][0].as_str().unwrap().contains("net_manager"), "{restrictions}");
    server.put(PATH, &settings_body("storage", json!({"ceph": true}))).await.expect(200);
    assert_eq!(
        list_restrictions(&server).await,
        [
            "storage.lvm disabled",
            "storage.odd disabled violated",
            "storage.lost ",
            "guarded disabled",
            "guarded.box disabled"
        ]
    );
    server.get("clusters/9/attributes/restrictions").await.expect_error(404);
}

#[tokio::test]
async fn disabled_setting_cannot_be_enabled() {
    let server = prepared_server().await;
    for (values, message) in [
        (json!({"ceph": true, "lvm": true}), "editable.storage.lvm: LVM does not go with Ceph"),
        (json!({"backend": "rbd"}), "editable.storage.backend[rbd]: needs Ceph"),
    ] {
        let error = server.put(PATH, &settings_body("storage", values)).await.expect(400);
        assert_eq!((&error["message"], &error["errors"][0]["kind"]), (&json!(message), &json!("restricted")));
    }
    // A setting may change together with the setting that its restriction reads.
    server.put(PATH, &settings_body("storage", json!({"ceph": true, "backend": "rbd"}))).await.expect(200);
    // A change that violates the restriction of another setting is refused.
    let message = server.put(PATH, &settings_body("storage", json!({"ceph": false}))).await.expect_error(400);
    assert_eq!(message, "editable.storage.backend[rbd]: needs Ceph");
    let settings = server.get(PATH).await.expect(200);
    assert_eq!(settings["editable"]["storage"]["ceph"]["value"], true, "nothing is stored");
    // Violations that existed before the change are accepted.
    server.put(PATH, &settings).await.expect(200);
    server.put("clusters/1/attributes/defaults", &json!({})).await.expect(200);
}

#[tokio::test]
async fn plugin_settings_have_restrictions() {
    let server = prepared_server().await;
    let both = json!({"editable": {"guarded": {"metadata": {"enabled": true}, "box": {"value": true}}}});
    assert_eq!(server.put(PATH, &both).await.expect_error(400), "editable.guarded.box: too small");
    let bigger = json!({"editable": {"guarded": {"metadata": {"enabled": true}, "box": {"value": true}, "size": {"value": "big"}}}});
    server.put(PATH, &bigger).await.expect(200);
    let message = server.put(PATH, &settings_body("storage", json!({"ceph": true}))).await.expect_error(400);
    assert_eq!(message, "editable.guarded: not beside Ceph");
    set_plugins_enabled(&server, 1, &[("guarded", false)]).await.expect(200);
    server.put(PATH, &settings_body("storage", json!({"ceph": true}))).await.expect(200);
    assert_eq!(
        set_plugins_enabled(&server, 1, &[("guarded", true)]).await.expect_error(400),
        "editable.guarded: not beside Ceph"
    );
}
