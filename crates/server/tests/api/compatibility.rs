//! Component compatibility over REST.

use axum::body::Body;
use serde_json::{Value, json};

use crate::component_fixtures::{
    contrail_body, create, plugin_body, release_with_components, server_with_contrail, with_fields,
};
use crate::fixtures::set_release_version;
use crate::support::TestServer;

async fn check_components(server: &TestServer, components: &[&str]) -> Value {
    server.post("releases/1/components/check", &json!({"components": components})).await.expect(200)
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn plugin_components_are_listed_with_incompatibilities() {
    let server = server_with_contrail().await;
    // A newer version that supports only another release does not replace the older one.
    let unfit = with_fields(
        contrail_body(),
        json!({"version": "2.0.0", "releases": [{"os": "centos", "version": "mitaka-9.0", "mode": ["ha"]}]}),
    );
    create(&server, "plugins", &unfit).await;
    let listed = server.get("releases/1/components/").await.expect(200);
    assert_eq!(
        names(&listed),
        [
            "hypervisor:core:kvm",
            "hypervisor:vmware",
            "network:ml2:vlan",
            "storage:block:lvm",
            "network:core:contrail"
        ]
    );
    let vcenter = json!({"name": "network:core:contrail", "message": "Not compatible with Contrail"});
    assert_eq!(listed[1]["incompatible"], json!([vcenter]));
    assert_eq!(names(&listed[4]["incompatible"]), ["hypervisor:vmware", "network:ml2:vlan"]);
    assert!(listed.as_array().unwrap().iter().all(|component| component.get("bind").is_none()));
    server.post("releases/1/components", &json!({})).await.expect(405);
    server.get("releases/9/components").await.expect_error(404);
    // The plugin supports the mode `ha` only.
    assert_eq!(
        server.get("releases/1/components?mode=multinode").await.expect(200).as_array().unwrap().len(),
        4
    );
    server.get("releases/1/components?mode=moon").await.expect_error(400);
}

#[tokio::test]
async fn duplicate_component_provider_is_reported() {
    let server = TestServer::new().await;
    let twin = with_fields(
        plugin_body("twin", "1.0.0"),
        json!({"components_metadata": [{"name": "network:core:contrail"}]}),
    );
    // The plugins conflict only when a release supports both.
    create(&server, "plugins", &contrail_body()).await;
    create(&server, "plugins", &twin).await;
    let error = server.post("releases", &release_with_components()).await.expect_error(409);
    assert!(
        error.contains("`network:core:contrail` is provided more than once, by contrail, twin"),
        "{error}"
    );
    let bare = with_fields(release_with_components(), json!({"version": "newton-10.0"}));
    create(&server, "releases", &bare).await;
    // An older server may have stored such a release.
    set_release_version(&server, 1, "mitaka-9.0").await;
    let reply = server.get("releases/1/components").await.expect(409);
    assert_eq!(reply["message"], "`network:core:contrail` is provided more than once, by contrail, twin");
    assert_eq!(reply["errors"][0]["kind"], "duplicate");
    assert_eq!(reply["conflicts"][0]["providers"], json!(["contrail", "twin"]));
    assert_eq!(
        check_components(&server, &["hypervisor:core:kvm", "network:ml2:vlan"]).await["compatible"],
        false
    );
}

/// With vCenter as the only hypervisor, a core network is reported as incompatible, with the reason.
#[tokio::test]
async fn core_network_is_incompatible_with_vcenter() {
    let server = server_with_contrail().await;
    let reply = check_components(&server, &["hypervisor:vmware", "networking:core:contrail"]).await;
    assert_eq!(reply["compatible"], false);
    assert_eq!(
        reply["conflicts"],
        json!([{"kind": "incompatible", "components": ["hypervisor:vmware", "network:core:contrail"],
                "message": "vCenter is not compatible with Contrail"}])
    );
    // Components that are not chosen are reported as incompatible too.
    let reply = check_components(&server, &["hypervisor:vmware"]).await;
    assert_eq!(
        reply["conflicts"][0],
        json!({"kind": "missing_type", "type": "network",
                                            "message": "a component of type `network` must be selected"})
    );
    let contrail = reply["components"]
        .as_array()
        .unwrap()
        .iter()
        .find(|component| component["label"] == "Contrail")
        .unwrap();
    assert_eq!(
        *contrail,
        json!({"name": "network:core:contrail", "label": "Contrail", "provider": "contrail", "chosen": false,
               "state": "incompatible", "reasons": ["Contrail is not compatible with vCenter"], "unknown": []})
    );
    let reply = check_components(&server, &["hypervisor:core:kvm", "network:core:contrail"]).await;
    assert_eq!((&reply["compatible"], &reply["conflicts"]), (&json!(true), &json!([])));
}

#[tokio::test]
async fn incompatibility_is_symmetric_and_order_independent() {
    let server = server_with_contrail().await;
    let components =
        ["hypervisor:vmware", "hypervisor:core:kvm", "network:ml2:vlan", "network:core:contrail"];
    let matrix = server.get("releases/1/compatibility").await.expect(200);
    let names = names(&matrix["components"]);
    for one in components {
        for other in components {
            let (forth, back) = (
                check_components(&server, &[one, other]).await,
                check_components(&server, &[other, one]).await,
            );
            assert_eq!(forth["conflicts"], back["conflicts"], "{one} {other}");
            let (row, column) = (
                names.iter().position(|name| *name == one).unwrap(),
                names.iter().position(|name| *name == other).unwrap(),
            );
            let cell = &matrix["component_cells"][row][column];
            assert_eq!(cell, &matrix["component_cells"][column][row], "{one} {other}");
            let is_conflict = forth["conflicts"]
                .as_array()
                .unwrap()
                .iter()
                .any(|conflict| conflict["kind"] == "incompatible");
            assert_eq!(cell == "X", is_conflict, "{one} {other}");
        }
    }
}

#[tokio::test]
async fn invalid_selection_is_reported_and_invalid_body_is_refused() {
    let server = server_with_contrail().await;
    let reply = check_components(&server, &["nonsense", "hypervisor:xen", "hypervisor:xen"]).await;
    let kinds: Vec<&str> = reply["conflicts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|conflict| conflict["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["unknown", "unknown", "missing_type", "missing_type"]);
    for body in [
        json!({}),
        json!({"components": "x"}),
        json!({"components": [1]}),
        json!({"components": [], "mode": "x"}),
        json!({"components": [], "other": 1}),
        json!([]),
    ] {
        server.post("releases/1/components/check", &body).await.expect_error(400);
    }
    server.post("releases/9/components/check", &json!({"components": []})).await.expect_error(404);
}

#[tokio::test]
async fn matrix_is_available_as_json_and_html() {
    let server = server_with_contrail().await;
    let matrix = server.get("releases/1/compatibility/").await.expect(200);
    assert_eq!(
        matrix["subtypes"],
        json!(["hypervisor:core", "hypervisor:vmware", "network:core", "network:ml2", "storage:block"])
    );
    assert_eq!(matrix["cells"][1], json!(["", "·", "X", "", ""]));
    assert_eq!(matrix["cells"][2], json!(["", "X", "·", "X", ""]));
    let html = server.get("releases/1/compatibility?format=html").await;
    assert!(html.header("content-type").starts_with("text/html"), "{:?}", html.headers);
    assert!(html.header("content-security-policy").contains("default-src 'none'"));
    let text = html.expect(200);
    let text = text.as_str().unwrap();
    assert!(text.contains("title=\"vCenter is not compatible with Contrail\">X</td>"), "{text}");
    let request = server.request("GET", "releases/1/compatibility").header("accept", "text/html,*/*");
    assert_eq!(server.send(request.body(Body::empty()).unwrap()).await.expect(200), text);
    server.get("releases/1/compatibility?format=pdf").await.expect_error(400);
    server.get("releases/9/compatibility").await.expect_error(404);
}

#[tokio::test]
async fn html_matrix_escapes_names() {
    let server = TestServer::new().await;
    let mut body = release_with_components();
    body["name"] = json!("<script>alert(1)</script>");
    body["components_metadata"] = json!([
        {"name": "hypervisor:a", "label": "\"><b>A", "incompatible": [{"name": "network:b", "message": "<i>"}]},
        {"name": "network:b", "label": "<u>", "requires": [{"any_of": {"items": ["hypervisor:x"], "message": "<s>"}}]},
    ]);
    create(&server, "releases", &body).await;
    let text = server.get("releases/1/compatibility?format=html").await.expect(200);
    let text = text.as_str().unwrap();
    for tag in ["<script>", "<b>", "<i>", "<u>", "<s>"] {
        assert!(!text.contains(tag), "{tag}");
    }
}

#[tokio::test]
async fn oversized_matrix_is_refused() {
    let server = TestServer::new().await;
    let mut body = release_with_components();
    let many = (0..301).map(|number| json!({"name": format!("network:n{number}")}));
    body["components_metadata"] = many.collect();
    create(&server, "releases", &body).await;
    let message = server.get("releases/1/compatibility").await.expect_error(400);
    assert!(message.starts_with("too many components for a matrix: 301"), "{message}");
}
