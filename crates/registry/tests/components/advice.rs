//! Human-readable advice and explanations.

use serde_json::json;
use stoker_registry::components::{Advice, ComponentName, Registry, Selection};

fn name(text: &str) -> ComponentName {
    ComponentName::parse(text).unwrap()
}

fn registry() -> Registry {
    let release = json!([
        {"name": "hypervisor:vmware", "label": "vCenter", "incompatible": [{"name": "network:core:*", "message": "no tunnels"}]},
        {"name": "hypervisor:kvm", "label": "KVM", "compatible": [{"name": "network:*"}],
         "requires": [{"any_of": {"items": ["storage:*"]}}]},
        {"name": "network:core:contrail", "label": "Contrail"},
        {"name": "network:ml2", "label": "ML2", "compatible": [{"name": "hypervisor:vmware"}]},
        {"name": "storage:ceph", "label": "Ceph", "requires": [{"name": "network:ml2", "message": "Ceph wants ML2"}]},
    ]);
    Registry::new(release.as_array().unwrap(), &[])
}

fn advice(about: &str, chosen: &[&str]) -> Advice {
    let chosen: Vec<ComponentName> = chosen.iter().map(|text| name(text)).collect();
    registry().advice(&name(about), &chosen).unwrap()
}

#[test]
fn advice_considers_earlier_panes_only() {
    assert_eq!(
        advice("network:core:contrail", &["hypervisor:vmware"]),
        Advice::Incompatible(vec!["Contrail is not compatible with vCenter: no tunnels".to_owned()])
    );
    assert_eq!(advice("network:core:contrail", &["hypervisor:kvm"]), Advice::Compatible);
    assert_eq!(advice("network:ml2", &["hypervisor:kvm", "hypervisor:vmware"]), Advice::Compatible);
    assert_eq!(advice("network:ml2", &[]), Advice::Available(vec![]));
    assert_eq!(
        advice("network:ml2", &["hypervisor:kvm", "network:core:contrail"]),
        Advice::Available(vec![name("network:core:contrail")])
    );
    // Storage is a later pane and may still be chosen; the network pane is an earlier one.
    assert_eq!(advice("hypervisor:kvm", &[]), Advice::Available(vec![]));
    assert_eq!(
        advice("storage:ceph", &["hypervisor:kvm"]),
        Advice::Incompatible(vec!["Ceph wants ML2".to_owned()])
    );
    assert_eq!(
        advice("hypervisor:vmware", &["network:core:contrail"]),
        Advice::Available(vec![]),
        "later panes are ignored"
    );
    assert_eq!(registry().advice(&name("storage:zzz"), &[]), None);
}

#[test]
fn conflicts_are_explained() {
    let registry = registry();
    let chosen = ["hypervisor:vmware", "hypervisor:kvm", "network:core:contrail", "network:zzz"];
    let decision =
        registry.check_selection(Selection { components: &chosen, required_types: &["monitoring"] });
    let explanations: Vec<String> =
        decision.conflicts.iter().map(|finding| registry.explain(finding)).collect();
    assert_eq!(
        explanations,
        [
            "no release or plugin provides `network:zzz`",
            "vCenter is not compatible with Contrail: no tunnels",
            "KVM requires any of: storage:*",
            "a component of type `monitoring` must be selected",
        ]
    );
}

#[test]
fn blank_messages_are_ignored() {
    let release = json!([
        {"name": "hypervisor:vmware", "label": "vCenter"},
        {"name": "network:ml2", "label": "ML2", "incompatible": [{"name": "hypervisor:vmware", "description": ""}]},
        {"name": "storage:ceph", "label": "Ceph", "requires": [{"name": "network:ml2", "message": " "}]},
    ]);
    let registry = Registry::new(release.as_array().unwrap(), &[]);
    let advice = |about: &str| registry.advice(&name(about), &[name("hypervisor:vmware")]).unwrap();
    let expected = "ML2 is not compatible with vCenter".to_owned();
    assert_eq!(advice("network:ml2"), Advice::Incompatible(vec![expected]));
    let expected = "Ceph requires any of: network:ml2".to_owned();
    assert_eq!(advice("storage:ceph"), Advice::Incompatible(vec![expected]));
}

#[test]
fn readable_messages_have_labels_and_titles() {
    let release = json!([
        {"name": "hypervisor:vmware", "label": "dialog.create_cluster_wizard.compute.vcenter", "requires": [
            {"any_of": {"items": ["network:dvs", "network:core:*", "storage:x:*", "monitoring:*"]}},
            {"one_of": {"items": ["network:moon"], "message": "why", "message_invalid": "dialog.create_cluster_wizard.compute.vcenter_warning"}},
        ]},
        {"name": "network:ml2_plain", "incompatible": [{"name": "hypervisor:vmware", "message": "dialog.create_cluster_wizard.network.hypervisor_alert"}]},
    ]);
    let one = json!([{"name": "network:core:a"}]);
    let two = json!([{"name": "network:core:b"}, {"name": "network:core:c", "label": "The C"}]);
    let nothing = json!([]);
    let plugins = [super::plugin("one", &nothing, &one), super::plugin("two", &nothing, &two)];
    let titles = std::collections::BTreeMap::from([("one", "Plugin One"), ("two", "Plugin Two")]);
    let registry = super::registry(&release, &plugins).into_readable(&titles);
    let check = registry.check_selection(Selection {
        components: &["hypervisor:vmware", "network:ml2_plain"],
        required_types: &[],
    });
    let explanations: Vec<String> = check.conflicts.iter().map(|finding| registry.explain(finding)).collect();
    assert_eq!(
        explanations,
        [
            "vCenter is not compatible with Ml2 plain: not available with vCenter",
            "vCenter requires any of: any monitoring (not installed), Plugin One, Plugin Two (B), The C, Dvs (not installed), X (not installed)",
            "vCenter requires exactly one of: Moon (not installed): vCenter needs QEMU-KVM beside it",
        ]
    );
}
