//! Fixtures of components and wizards: a release and the plugins that extend it.

use serde_json::{Value, json};

use crate::beginnings::id;
use crate::support::{Reply, TestServer};

/// Returns a release body with two hypervisors, one network and one storage component, and a wizard for them.
pub(crate) fn release_with_components() -> Value {
    json!({
        "name": "Mitaka", "version": "mitaka-9.0", "operating_system": "Ubuntu", "state": "available",
        "modes_metadata": {"ha_compact": {}, "multinode": {}},
        "roles_metadata": {"controller": {"name": "Controller"}, "compute": {"name": "Compute"}},
        "required_component_types": ["hypervisor", "network"],
        "components_metadata": [
            {"name": "hypervisor:core:kvm", "label": "KVM", "default": true,
             "bind": [["settings:common.libvirt_type.value", "kvm"]]},
            {"name": "hypervisor:vmware", "label": "vCenter", "bind": ["settings:common.use_vcenter.value"]},
            {"name": "network:ml2:vlan", "label": "VLAN", "compatible": [{"name": "hypervisor:*"}],
             "bind": [["cluster:net_provider", "neutron"]]},
            {"name": "storage:block:lvm", "label": "LVM"},
        ],
        "attributes_metadata": {"editable": {"common": {
            "metadata": {"label": "Common"},
            "debug": {"type": "checkbox", "value": false},
            "libvirt_type": {"type": "radio", "value": "qemu", "values": [{"data": "qemu"}, {"data": "kvm"}]},
            "use_vcenter": {"type": "checkbox", "value": false},
        }}, "generated": {}},
        "wizard_metadata": {
            "Mode": {"mode": {"type": "radio", "bind": "cluster:mode", "values": [
                {"data": "ha_compact", "label": "HA"}, {"data": "multinode", "label": "No HA"}]}},
            "Compute": {
                "kvm": {"type": "checkbox", "weight": 10, "value": true, "label": "KVM", "component": "hypervisor:core:kvm"},
                "vcenter": {"type": "checkbox", "weight": 20, "label": "vCenter", "component": "hypervisor:vmware"},
            },
            "Network": {"manager": {"type": "radio", "values": [
                {"data": "vlan", "label": "VLAN", "component": "network:ml2:vlan"}]}},
        },
    })
}

pub(crate) fn plugin_body(name: &str, version: &str) -> Value {
    json!({
        "name": name, "title": format!("The {name}"), "version": version, "package_version": "4.0.0",
        "fuel_version": ["9.0"], "releases": [{"os": "ubuntu", "version": "mitaka-9.0", "mode": ["ha"]}],
    })
}

/// Adds or replaces top-level fields of a body.
pub(crate) fn with_fields(mut body: Value, more: Value) -> Value {
    let more = more.as_object().unwrap().clone();
    body.as_object_mut().unwrap().extend(more);
    body
}

/// Returns a plugin body with a core network component: compatible with core hypervisors only and with no
/// other network.
pub(crate) fn contrail_body() -> Value {
    with_fields(
        plugin_body("contrail", "1.0.0"),
        json!({
            "provides": [{"name": "networking:core", "label": "Contrail", "compatible_hypervisors": ["core"],
                          "compatible_storages": ["all"], "compatible_monitoring": ["all"]}],
            "attributes_metadata": {"segments": {"type": "text", "value": "16"}},
            "roles_metadata": {"contrail-control": {"name": "Contrail control"}},
            "wizard_metadata": {"Network": {
                "manager": {"values": [{"data": "contrail", "label": "Contrail", "bind": [{"settings:contrail.value": true}]}]},
            }},
        }),
    )
}

pub(crate) async fn create(server: &TestServer, path: &str, body: &Value) -> i64 {
    id(&server.post(path, body).await.expect(201))
}

/// Returns a server with release 1 and the Contrail plugin.
pub(crate) async fn server_with_contrail() -> TestServer {
    let server = TestServer::new().await;
    create(&server, "releases", &release_with_components()).await;
    create(&server, "plugins", &contrail_body()).await;
    server
}

pub(crate) async fn post_cluster(server: &TestServer, more: Value) -> Reply {
    server.post("clusters", &with_fields(json!({"name": "demo", "release_id": 1}), more)).await
}

/// Enables or disables plugins through the settings, as the web UI does.
pub(crate) async fn set_plugins_enabled(
    server: &TestServer,
    cluster_id: i64,
    plugins: &[(&str, bool)],
) -> Reply {
    let sections: serde_json::Map<String, Value> = plugins
        .iter()
        .map(|(name, enabled)| ((*name).to_owned(), json!({"metadata": {"enabled": enabled}})))
        .collect();
    server.put(&format!("clusters/{cluster_id}/attributes"), &json!({"editable": sections})).await
}
