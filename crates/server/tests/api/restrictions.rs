//! Restrictions of settings.

use serde_json::{Value, json};

use crate::choices::{made, new_cluster, plugin_body, release_with_choices, switch, with};
use crate::support::TestServer;

const PATH: &str = "clusters/1/attributes";

async fn server() -> TestServer {
    let server = TestServer::new().await;
    let mut release = release_with_choices();
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
    made(&server, "releases", &release).await;
    let guarded = with(
        plugin_body("guarded", "1.0.0"),
        json!({"attributes_metadata": {
            "metadata": {"restrictions": [{"settings:storage.ceph.value == true": "not beside Ceph"}]},
            "box": {"type": "checkbox", "value": false, "restrictions": [
                {"condition": "settings:guarded.size.value == 'small'", "message": "too small"}]},
            "size": {"type": "text", "value": "small"},
        }}),
    );
    made(&server, "plugins", &guarded).await;
    new_cluster(&server, json!({})).await.expect(201);
    server
}

fn set(section: &str, values: Value) -> Value {
    let values =
        values.as_object().unwrap().iter().map(|(key, value)| (key.clone(), json!({"value": value})));
    json!({"editable": {section: values.collect::<serde_json::Map<_, _>>()}})
}

async fn shown(server: &TestServer) -> Vec<String> {
    let found = server.get("clusters/1/attributes/restrictions/").await.expect(200);
    let words = |one: &Value| {
        let flags = ["hidden", "disabled", "violated"].into_iter().filter(|flag| one[*flag] == true);
        format!("{} {}", one["path"].as_str().unwrap(), flags.collect::<Vec<_>>().join(" "))
    };
    found.as_array().unwrap().iter().map(words).collect()
}

#[tokio::test]
async fn restrictions_list_hidden_and_disabled_settings() {
    let server = server().await;
    assert_eq!(
        shown(&server).await,
        [
            "storage.odd disabled violated",
            "storage.pool hidden",
            "storage.backend[rbd] disabled",
            "storage.lost ",
            "guarded.box disabled"
        ]
    );
    let found = server.get("clusters/1/attributes/restrictions").await.expect(200);
    assert_eq!(found[2]["messages"], json!(["needs Ceph"]));
    assert_eq!((&found[2]["setting"], &found[2]["option"]), (&json!("backend"), &json!("rbd")));
    assert!(found[3]["errors"][0].as_str().unwrap().contains("net_manager"), "{found}");
    server.put(PATH, &set("storage", json!({"ceph": true}))).await.expect(200);
    assert_eq!(
        shown(&server).await,
        [
            "storage.lvm disabled",
            "storage.odd disabled violated",
            "storage.lost ",
            "guarded disabled",
            "guarded.box disabled"
        ]
    );
    server.get("clusters/9/attributes/restrictions").await.refused(404);
}

#[tokio::test]
async fn disabled_setting_cannot_be_enabled() {
    let server = server().await;
    for (values, message) in [
        (json!({"ceph": true, "lvm": true}), "editable.storage.lvm: LVM does not go with Ceph"),
        (json!({"backend": "rbd"}), "editable.storage.backend[rbd]: needs Ceph"),
    ] {
        let refused = server.put(PATH, &set("storage", values)).await.expect(400);
        assert_eq!(
            (&refused["message"], &refused["errors"][0]["kind"]),
            (&json!(message), &json!("restricted"))
        );
    }
    // What the restriction reads may be switched together with what it is about.
    server.put(PATH, &set("storage", json!({"ceph": true, "backend": "rbd"}))).await.expect(200);
    // What would become forbidden by the change is refused too.
    let message = server.put(PATH, &set("storage", json!({"ceph": false}))).await.refused(400);
    assert_eq!(message, "editable.storage.backend[rbd]: needs Ceph");
    let settings = server.get(PATH).await.expect(200);
    assert_eq!(settings["editable"]["storage"]["ceph"]["value"], true, "nothing is written");
    // What was odd before stays odd, and can be sent back.
    server.put(PATH, &settings).await.expect(200);
    server.put("clusters/1/attributes/defaults", &json!({})).await.expect(200);
}

#[tokio::test]
async fn plugin_settings_have_restrictions() {
    let server = server().await;
    let both = json!({"editable": {"guarded": {"metadata": {"enabled": true}, "box": {"value": true}}}});
    assert_eq!(server.put(PATH, &both).await.refused(400), "editable.guarded.box: too small");
    let bigger = json!({"editable": {"guarded": {"metadata": {"enabled": true}, "box": {"value": true}, "size": {"value": "big"}}}});
    server.put(PATH, &bigger).await.expect(200);
    let message = server.put(PATH, &set("storage", json!({"ceph": true}))).await.refused(400);
    assert_eq!(message, "editable.guarded: not beside Ceph");
    switch(&server, 1, &[("guarded", false)]).await.expect(200);
    server.put(PATH, &set("storage", json!({"ceph": true}))).await.expect(200);
    assert_eq!(
        switch(&server, 1, &[("guarded", true)]).await.refused(400),
        "editable.guarded: not beside Ceph"
    );
}
