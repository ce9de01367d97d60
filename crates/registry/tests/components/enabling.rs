//! Plugins that are switched on after the choice.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::{plugin, registry};

/// What speaks against switching on `fresh`, in words, where these plugins are enabled afterwards.
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
    let found = registry.against_enabling(chosen, &fresh);
    found.iter().map(|(plugin, finding)| format!("{plugin}: {}", registry.explain(finding))).collect()
}

fn core_network(name: &str) -> Json {
    json!([{"name": format!("network:core:{name}"), "label": name, "compatible_hypervisors": ["core"],
            "compatible_storages": ["all"]}])
}

#[test]
fn a_plugin_is_held_against_what_was_chosen() {
    let contrail = [("contrail", core_network("contrail"))];
    assert_eq!(
        against(&["hypervisor:vmware"], &contrail, &["contrail"]),
        ["contrail: vCenter is not compatible with contrail"]
    );
    assert_eq!(against(&["hypervisor:core:kvm"], &contrail, &["contrail"]), [""; 0]);
    assert_eq!(against(&["hypervisor:vmware"], &contrail, &[]), [""; 0], "what is enabled already stays");
    assert_eq!(against(&[], &contrail, &["contrail"]), [""; 0], "nothing is known");
}

#[test]
fn plugins_are_held_against_each_other() {
    let both = [("contrail", core_network("contrail")), ("mesh", core_network("mesh"))];
    let expected = |plugin: &str| vec![format!("{plugin}: contrail is not compatible with mesh")];
    assert_eq!(against(&[], &both, &["mesh"]), expected("mesh"));
    assert_eq!(against(&[], &both, &["contrail"]), expected("contrail"));
    let twins = [("a", core_network("same")), ("b", core_network("same"))];
    assert_eq!(against(&[], &twins, &["b"]), ["b: `network:core:same` is provided more than once, by a, b"]);
}

#[test]
fn of_several_components_the_chosen_ones_count() {
    let two = json!([
        {"name": "network:core:x", "compatible_hypervisors": ["core"], "compatible_networking": ["all"]},
        {"name": "network:ml2:x", "compatible_hypervisors": ["all"]},
    ]);
    let plugins = [("x", two)];
    // What its own components think of each other is its own affair.
    assert_eq!(against(&["hypervisor:core:kvm"], &plugins, &["x"]), [""; 0]);
    assert_eq!(against(&["hypervisor:vmware"], &plugins, &["x"]).len(), 1);
    assert_eq!(against(&["hypervisor:vmware", "network:ml2:x"], &plugins, &["x"]), [""; 0]);
}

#[test]
fn requirements_are_asked_of_a_cluster_that_chose() {
    let release = json!([{"name": "hypervisor:vmware"}, {"name": "hypervisor:kvm"}]);
    let components = json!([{"name": "network:dvs", "label": "DVS",
                             "requires": [{"name": "hypervisor:vmware", "message": "DVS needs vCenter"}]}]);
    let none = json!([]);
    let registry = registry(&release, &[plugin("dvs", &none, &components)]);
    let n_against = |chosen: &[&str]| registry.against_enabling(chosen, &BTreeSet::from(["dvs"])).len();
    assert_eq!(n_against(&["hypervisor:kvm"]), 1);
    assert_eq!(n_against(&["hypervisor:vmware"]), 0);
    assert_eq!(n_against(&[]), 0);
}
