//! Validation of answers and their results.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};
use stoker_registry::components::BoundModel;
use stoker_registry::wizard::{PluginWizard, WizardResult, evaluate, merge_wizards, validate_answers};

fn wizard() -> Json {
    json!({
        "Compute": {
            "vcenter": {"type": "checkbox", "weight": 20, "component": "hypervisor:vmware", "bind": "settings:common.use_vcenter.value"},
            "kvm": {"type": "checkbox", "weight": 10, "value": true, "component": "hypervisor:qemu", "bind": [{"settings:common.libvirt_type.value": "qemu"}]},
        },
        "Network": {"manager": {"type": "radio", "bind": "cluster:net_manager", "values": [
            {"data": "nova", "restrictions": [{"condition": "wizard:Compute.vcenter == true", "message": "not with vCenter"}]},
            {"data": "vlan", "component": "network:vlan", "bind": [{"cluster:net_segment_type": "vlan"}]},
        ]}},
        "Storage": {
            "metadata": {"restrictions": [{"condition": "cluster:mode == 'multinode'", "action": "hide"}]},
            "ceph": {"type": "checkbox", "restrictions": ["wizard:Compute.vcenter == true"]},
            "pool": {"type": "text", "bind": "settings:storage.pool.value"},
        },
        "Ready": {"picture": {"type": "custom"}},
    })
}

fn chosen(answers: &Json, mode: &str) -> Result<WizardResult, Vec<stoker_diagnostics::Diagnostic>> {
    let contrail = json!({"Network": {"manager": {"values": [{"data": "contrail", "bind": [{"settings:contrail.value": true}]}]}}});
    let mesh = json!({"Network": {"manager": {"values": [{"data": "mesh"}]}}});
    let plugin =
        |name: &'static str, wizard| PluginWizard { name, version: "1.0.0", wizard, components: Vec::new() };
    let mixed = merge_wizards(&wizard(), &[plugin("contrail", &contrail), plugin("mesh", &mesh)]).unwrap();
    let cluster = json!({"mode": mode});
    let others = |name: &str| (name == "cluster").then_some(&cluster);
    validate_answers(&mixed, answers.as_object().unwrap(), &others, &BTreeSet::from(["contrail", "mesh"]))
}

fn settled(chosen: &WizardResult) -> Vec<String> {
    let describe =
        |((model, path), value): ((BoundModel, &str), &Json)| format!("{}:{path}={value}", model.as_str());
    chosen.final_values().into_iter().map(describe).collect()
}

fn problems(answers: &Json, mode: &str) -> Vec<String> {
    let problems = chosen(answers, mode).err().unwrap_or_default();
    problems
        .iter()
        .map(|problem| format!("{} {}: {}", problem.location.path, problem.kind.unwrap(), problem.message))
        .collect()
}

#[test]
fn defaults_are_used_without_answers() {
    let chosen = chosen(&json!({}), "ha").unwrap();
    assert_eq!(chosen.components, ["hypervisor:qemu"]);
    assert_eq!(
        settled(&chosen),
        [
            "cluster:net_manager=\"nova\"",
            "settings:common.libvirt_type.value=\"qemu\"",
            "settings:common.use_vcenter.value=false",
            "settings:storage.pool.value=\"\"",
        ]
    );
    assert_eq!(chosen.answers["Storage"], json!({"ceph": false, "pool": ""}));
}

#[test]
fn forbidden_default_falls_back_to_the_next_option() {
    let chosen = chosen(&json!({"Compute": {"vcenter": true, "kvm": false}}), "ha").unwrap();
    assert_eq!(chosen.answers["Network"]["manager"], "vlan");
    assert_eq!(chosen.components, ["hypervisor:vmware", "network:vlan"]);
    assert!(settled(&chosen).contains(&"cluster:net_segment_type=\"vlan\"".to_owned()));
}

#[test]
fn choosing_a_plugin_option_enables_the_plugin() {
    let with = |manager: &str| chosen(&json!({"Network": {"manager": manager}}), "ha").unwrap();
    let contrail = with("contrail");
    assert_eq!(contrail.plugins, BTreeSet::from(["contrail".to_owned()]));
    assert!(settled(&contrail).contains(&"settings:contrail.metadata.enabled=true".to_owned()));
    assert_eq!(with("mesh").plugins, BTreeSet::from(["mesh".to_owned()]));
    assert!(with("vlan").plugins.is_empty());
}

#[test]
fn all_invalid_answers_are_reported() {
    assert_eq!(
        problems(
            &json!({
                "Compute": {"vcenter": true, "kvm": "yes", "zzz": 1},
                "Network": {"manager": "nova"},
                "Storage": {"ceph": true, "pool": 5},
                "Nowhere": {"a": 1},
                "Ready": 5,
            }),
            "ha"
        ),
        [
            "Compute.zzz unknown: unknown pane or control",
            "Nowhere.a unknown: unknown pane or control",
            "Ready value: the answers of a pane must be a map",
            "Compute.kvm value: must be true or false",
            "Network.manager restricted: not with vCenter",
            "Storage.ceph restricted: forbidden by a restriction",
            "Storage.pool value: must be text",
        ]
    );
    assert_eq!(
        problems(&json!({"Network": {"manager": "x"}}), "ha"),
        ["Network.manager value: \"x\" is not an option"]
    );
}

#[test]
fn hidden_panes_are_ignored() {
    let chosen =
        chosen(&json!({"Compute": {"vcenter": true}, "Storage": {"ceph": true}}), "multinode").unwrap();
    assert!(!settled(&chosen).iter().any(|assignment| assignment.starts_with("settings:storage")));
}

#[test]
fn answers_of_later_controls_are_bound_unless_they_are_given() {
    let wizard = json!({
        "Compute": {
            "hypervisor": {"type": "radio", "values": [
                {"data": "kvm", "bind": [{"wizard:Network.manager": "vlan"}, {"wizard:Storage.none": 1}]}, {"data": "qemu"}]},
            "vcenter": {"type": "checkbox", "weight": 200, "bind": [{"wizard:Network.manager": "nova"}, "wizard:Storage.ceph"]},
        },
        "Network": {"manager": {"type": "radio", "values": [{"data": "tun"}, {"data": "vlan"}, {"data": "nova"}],
                    "bind": [{"wizard:Compute.hypervisor": "qemu"}, "wizard:Storage.pool"]}},
        "Storage": {"ceph": {"type": "checkbox"}, "pool": {"type": "text"}},
    });
    let mixed = merge_wizards(&wizard, &[]).unwrap();
    let effective = |answers: &Json| {
        let answers = answers.as_object().unwrap();
        let chosen = validate_answers(&mixed, answers, &|_| None, &BTreeSet::new()).unwrap();
        assert_eq!(evaluate(&mixed, answers, &|_| None).answers, chosen.answers);
        assert_eq!(chosen.bindings, [], "the cluster gets nothing");
        chosen.answers
    };
    let answers = effective(&json!({}));
    assert_eq!(answers["Network"]["manager"], "vlan");
    assert_eq!(answers["Storage"], json!({"ceph": false, "pool": "vlan"}));
    let answers = effective(&json!({"Compute": {"vcenter": true}}));
    assert_eq!((&answers["Network"]["manager"], &answers["Storage"]["ceph"]), (&json!("nova"), &json!(true)));
    let answers = effective(&json!({"Compute": {"hypervisor": "qemu"}, "Network": {"manager": "tun"}}));
    assert_eq!(answers["Compute"]["hypervisor"], "qemu");
    assert_eq!(answers["Network"]["manager"], "tun");
}
