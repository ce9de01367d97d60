//! Restrictions generated from component compatibility.

use serde_json::{Value as Json, json};
use stoker_conditions::{Condition, Dialect};
use stoker_registry::components::Registry;
use stoker_registry::wizard::{generated_restrictions, with_restrictions};

fn wizard() -> Json {
    json!({
        "Network": {"manager": {"type": "radio", "weight": 10, "values": [
            {"data": "core", "component": "network:core"},
            {"data": "it's", "component": "network:odd"},
            {"data": "free"},
        ]}},
        "Compute": {
            "metadata": {"component": "hypervisor:kvm"},
            "vcenter": {"type": "checkbox", "weight": 20, "component": "hypervisor:vmware"},
            "kvm": {"type": "checkbox", "weight": 10, "component": "hypervisor:kvm"},
        },
        "Storage": {
            "ceph": {"type": "checkbox", "component": "storage:ceph"},
            "lvm": {"type": "checkbox", "component": "storage:lvm", "restrictions": [{"wizard:Storage.ceph == true": "by hand"}]},
        },
    })
}

/// Targets with conditions and messages.
fn generated(components: &Json) -> Vec<(String, Vec<(String, String)>)> {
    let wizard = wizard();
    let registry = Registry::new(components.as_array().unwrap(), &[]);
    let restrictions = generated_restrictions(wizard.as_object().unwrap(), &registry);
    let pair = |restriction: &stoker_registry::restrictions::Restriction| {
        Condition::parse_as(&restriction.condition, Dialect::RESTRICTION).unwrap();
        (restriction.condition.clone(), restriction.message.clone().unwrap())
    };
    restrictions.into_iter().map(|(target, list)| (target, list.iter().map(pair).collect())).collect()
}

fn entry(target: &str, restrictions: &[(&str, &str)]) -> (String, Vec<(String, String)>) {
    let pair = |(condition, message): &(&str, &str)| ((*condition).to_owned(), (*message).to_owned());
    (target.to_owned(), restrictions.iter().map(pair).collect())
}

#[test]
fn later_pane_is_disabled_and_both_sides_within_a_pane() {
    let components = json!([
        {"name": "hypervisor:vmware", "label": "vCenter", "incompatible": [{"name": "network:core"}, {"name": "hypervisor:kvm"}]},
        {"name": "hypervisor:kvm", "label": "KVM"},
        {"name": "network:core", "label": "Contrail", "incompatible": [{"name": "network:odd"}]},
        {"name": "network:odd", "label": "Odd"},
    ]);
    assert_eq!(
        generated(&components),
        [
            entry("Compute.kvm", &[("wizard:Compute.vcenter == true", "KVM is not compatible with vCenter")]),
            entry("Compute.vcenter", &[("wizard:Compute.kvm == true", "vCenter is not compatible with KVM")]),
            entry(
                "Network.manager[core]",
                &[("wizard:Compute.vcenter == true", "Contrail is not compatible with vCenter")]
            ),
        ]
    );
}

#[test]
fn existing_restrictions_are_not_duplicated() {
    let components = json!([
        {"name": "storage:ceph", "incompatible": [{"name": "storage:lvm"}]},
        {"name": "storage:lvm"},
        {"name": "network:odd", "incompatible": [{"name": "storage:ceph"}]},
    ]);
    assert_eq!(
        generated(&components),
        [entry(
            "Storage.ceph",
            &[
                ("wizard:Network.manager == \"it's\"", "storage:ceph is not compatible with network:odd"),
                ("wizard:Storage.lvm == true", "storage:ceph is not compatible with storage:lvm"),
            ]
        )]
    );
}

#[test]
fn requirements_become_conditions() {
    let kvm = "wizard:Compute.kvm == true";
    let vcenter = "wizard:Compute.vcenter == true";
    let (core, odd) = ("wizard:Network.manager == 'core'", "wizard:Network.manager == \"it's\"");
    let base = |requires: Json| json!(["hypervisor:kvm", "hypervisor:vmware", "network:core", "network:odd", {"name": "storage:lvm", "label": "LVM", "requires": requires}, "storage:ceph"]);
    let check = |requires: Json, expected: &[(&str, &str)]| {
        let expected = if expected.is_empty() { vec![] } else { vec![entry("Storage.lvm", expected)] };
        assert_eq!(generated(&base(requires.clone())), expected, "{requires}");
    };
    let any = format!("not ({kvm} or {vcenter})");
    check(json!([{"any_of": {"items": ["hypervisor:*"]}}]), &[(&any, "LVM requires any of: hypervisor:*")]);
    check(
        json!([{"name": "hypervisor:vmware", "message": "why"}, {"name": "hypervisor:kvm"}]),
        &[(&any, "why")],
    );
    check(json!([{"any_of": {"items": ["network:zzz"], "message": "no"}}]), &[("true", "no")]);
    check(json!([{"none_of": {"items": ["network:zzz"]}}]), &[]);
    check(
        json!([{"none_of": {"items": ["hypervisor:*"]}}]),
        &[(&format!("{kvm} or {vcenter}"), "LVM requires none of: hypervisor:*")],
    );
    check(
        json!([{"all_of": {"items": ["hypervisor:*"]}}]),
        &[(&format!("not ({kvm} and {vcenter})"), "LVM requires all of: hypervisor:*")],
    );
    check(
        json!([{"all_of": {"items": ["hypervisor:zzz"]}}]),
        &[("true", "LVM requires all of: hypervisor:zzz")],
    );
    check(json!([{"all_of": {"items": ["hypervisor:zzz:*", "storage:lvm"]}}]), &[]);
    let one = format!("not ({kvm} or {vcenter}) or ({kvm} and {vcenter})");
    check(
        json!([{"one_of": {"items": ["hypervisor:vmware", "hypervisor:kvm"]}}]),
        &[(&one, "LVM requires exactly one of: hypervisor:kvm, hypervisor:vmware")],
    );
    let radio = format!("not ({core} or {odd})");
    check(
        json!([{"one_of": {"items": ["network:*"]}}]),
        &[(&radio, "LVM requires exactly one of: network:*")],
    );
    check(json!([{"one_of": {"items": []}}]), &[("true", "LVM requires exactly one of: ")]);
    // Predicates of one map are evaluated in a fixed order.
    check(
        json!([{"none_of": {"items": ["hypervisor:kvm"], "message": "b"}, "any_of": {"items": ["hypervisor:vmware"], "message": "a"}}]),
        &[(&format!("not ({vcenter})"), "a"), (kvm, "b")],
    );
}

#[test]
fn requirements_on_later_panes_are_not_generated() {
    let components = json!([{"name": "hypervisor:vmware", "requires": [{"any_of": {"items": ["network:*", "hypervisor:kvm"]}}]}, "network:core", "hypervisor:kvm"]);
    assert_eq!(generated(&components), []);
}

#[test]
fn restrictions_are_added_to_the_wizard() {
    let components =
        json!([{"name": "storage:lvm", "incompatible": [{"name": "hypervisor:kvm"}]}, "hypervisor:kvm"]);
    let registry = Registry::new(components.as_array().unwrap(), &[]);
    let result = with_restrictions(wizard().as_object().unwrap().clone(), &registry);
    assert_eq!(
        result["Storage"]["lvm"]["restrictions"],
        json!([
            {"wizard:Storage.ceph == true": "by hand"},
            {"condition": "wizard:Compute.kvm == true", "message": "storage:lvm is not compatible with hypervisor:kvm", "action": "disable"},
        ])
    );
    assert_eq!(result["Network"], wizard()["Network"]);
}
