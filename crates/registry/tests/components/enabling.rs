//! Enabling plugins in existing clusters.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::{plugin, registry};

/// Returns the messages of the conflicts that enabling `fresh` would cause; `plugins` includes `fresh`.
fn against(chosen: &[&str], plugins: &[(&str, Json)], fresh: &[&str]) -> Vec<String> {
    let release = json!([
        {"name": "hypervisor:vmware", "label": "vCenter"},
        {"name": "hypervisor:core:kvm", "label": "KVM"},
        {"name": "network:ml2:vlan", "label": "VLAN"},
    ]);
    let none = json!([]);
    let plugins: Vec<_> = plugins.iter().map(|(name, provides)| plugin(name, provides, &none)).collect();
    let registry = registry(&release, &plugins);
    let fresh: BTreeSet<&str> = fresh.iter().copied().collect();
    let conflicts = registry.enable_conflicts(chosen, &fresh);
    conflicts.iter().map(|(plugin, finding)| format!("{plugin}: {}", registry.explain(finding))).collect()
}

fn core_network(name: &str) -> Json {
    json!([{"name": format!("network:core:{name}"), "label": name, "compatible_hypervisors": ["core"],
            "compatible_storages": ["all"]}])
}

#[test]
fn plugin_is_checked_against_the_selection() {
    let contrail = [("contrail", core_network("contrail"))];
    assert_eq!(
        against(&["hypervisor:vmware"], &contrail, &["contrail"]),
        ["contrail: vCenter is not compatible with contrail"]
    );
    assert_eq!(against(&["hypervisor:core:kvm"], &contrail, &["contrail"]), [""; 0]);
    assert_eq!(
        against(&["hypervisor:vmware"], &contrail, &[]),
        [""; 0],
        "enabled plugins are not checked again"
    );
    assert_eq!(against(&[], &contrail, &["contrail"]), [""; 0], "the cluster made no selection");
}

#[test]
fn plugins_are_checked_against_each_other() {
    let both = [("contrail", core_network("contrail")), ("mesh", core_network("mesh"))];
    let expected = |plugin: &str| vec![format!("{plugin}: contrail is not compatible with mesh")];
    assert_eq!(against(&[], &both, &["mesh"]), expected("mesh"));
    assert_eq!(against(&[], &both, &["contrail"]), expected("contrail"));
    let twins = [("a", core_network("same")), ("b", core_network("same"))];
    assert_eq!(against(&[], &twins, &["b"]), ["b: `network:core:same` is provided more than once, by a, b"]);
}

#[test]
fn selected_components_represent_a_plugin() {
    let two = json!([
        {"name": "network:core:x", "compatible_hypervisors": ["core"], "compatible_networking": ["all"]},
        {"name": "network:ml2:x", "compatible_hypervisors": ["all"]},
    ]);
    let plugins = [("x", two)];
    // Conflicts between components of one plugin are ignored.
    assert_eq!(against(&["hypervisor:core:kvm"], &plugins, &["x"]), [""; 0]);
    assert_eq!(against(&["hypervisor:vmware"], &plugins, &["x"]).len(), 1);
    assert_eq!(against(&["hypervisor:vmware", "network:ml2:x"], &plugins, &["x"]), [""; 0]);
}

#[test]
fn requirements_are_checked_for_clusters_with_a_selection() {
    let release = json!([{"name": "hypervisor:vmware"}, {"name": "hypervisor:kvm"}]);
    let components = json!([{"name": "network:dvs", "label": "DVS",
                             "requires": [{"name": "hypervisor:vmware", "message": "DVS needs vCenter"}]}]);
    let none = json!([]);
    let registry = registry(&release, &[plugin("dvs", &none, &components)]);
    let n_against = |chosen: &[&str]| registry.enable_conflicts(chosen, &BTreeSet::from(["dvs"])).len();
    assert_eq!(n_against(&["hypervisor:kvm"]), 1);
    assert_eq!(n_against(&["hypervisor:vmware"]), 0);
    assert_eq!(n_against(&[]), 0);
}
