//! Wizards generated from components.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};
use stoker_registry::components::{ComponentName, ComponentType, PluginComponents, Registry};
use stoker_registry::wizard::{
    MergedWizard, PluginWizard, complete_wizard, evaluate, relabeled, validate_answers, with_readable_texts,
    with_restrictions,
};
use stoker_testkit::real_data;

/// A plugin with one component and a wizard.
struct Extension {
    name: &'static str,
    component: Json,
    wizard: Json,
}

fn registry(components: &Json, extensions: &[Extension]) -> Registry {
    let lists: Vec<Vec<Json>> =
        extensions.iter().map(|extension| vec![extension.component.clone()]).collect();
    let plugins: Vec<PluginComponents<'_>> = extensions
        .iter()
        .zip(&lists)
        .map(|(extension, components)| PluginComponents {
            name: extension.name,
            version: "1.0.0",
            releases: None,
            provides: &[],
            components,
        })
        .collect();
    let titles = extensions.iter().map(|extension| (extension.name, "The plugin")).collect();
    Registry::new(components.as_array().unwrap(), &plugins.iter().collect::<Vec<_>>()).into_readable(&titles)
}

fn generated(components: &Json, required: &[&str], extensions: &[Extension]) -> MergedWizard {
    let registry = registry(components, extensions);
    let component =
        |extension: &Extension| ComponentName::parse(extension.component["name"].as_str().unwrap());
    let wizards: Vec<PluginWizard<'_>> = extensions
        .iter()
        .map(|extension| PluginWizard {
            name: extension.name,
            version: "1.0.0",
            wizard: &extension.wizard,
            components: component(extension).into_iter().collect(),
        })
        .collect();
    let required: Vec<String> = required.iter().map(|kind| (*kind).to_owned()).collect();
    let written = serde_json::Map::new();
    let merged = complete_wizard(&written, &required, &registry, &wizards).unwrap();
    let registry = relabeled(&merged.wizard, &registry);
    let wizard = with_readable_texts(with_restrictions(merged.wizard, &registry));
    MergedWizard { wizard, ..merged }
}

/// Controls as `Pane.name type default: label` and options as `- data default: label`.
fn outline(merged: &MergedWizard) -> Vec<String> {
    let mut lines = Vec::new();
    for (pane, controls) in &merged.wizard {
        for (name, control) in controls.as_object().unwrap().iter().filter(|(name, _)| *name != "metadata") {
            let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
            lines.push(format!(
                "{pane}.{name} {} {}: {}",
                text(&control["type"]),
                control["value"],
                text(&control["label"])
            ));
            for option in control["values"].as_array().into_iter().flatten() {
                lines.push(format!("- {}: {}", text(&option["data"]), text(&option["label"])));
            }
        }
    }
    lines
}

fn real_release(name: &str) -> Option<Json> {
    let text = std::fs::read_to_string(real_data(&format!("releases/{name}.yaml"))?).unwrap();
    let node = stoker_manifest::parse(&text, stoker_manifest::Format::Yaml).unwrap();
    Some(stoker_manifest::reader::json(&node, &mut stoker_diagnostics::Diagnostics::default()).unwrap())
}

#[test]
fn real_components_become_panes() {
    let Some(release) = real_release("newton-10.0-ubuntu") else { return };
    let merged = generated(&release["components_metadata"], &["hypervisor", "network", "storage"], &[]);
    assert!(merged.is_generated);
    assert_eq!(
        outline(&merged),
        [
            "Compute.qemu checkbox true: QEMU-KVM",
            "Compute.vmware checkbox false: vCenter",
            "Network.neutron_core_ml2 checkbox true: Neutron with ML2 plugin",
            "Network.manager radio \"vlan\": Neutron ml2",
            "- none: None",
            "- vlan: Neutron with VLAN segmentation",
            "- tun: Neutron with tunneling segmentation",
            "Storage.block radio \"lvm\": Block",
            "- none: None",
            "- lvm: LVM",
            "- ceph: Ceph (block)",
            "Storage.object_ceph checkbox false: Ceph (object)",
            "Storage.ephemeral_ceph checkbox false: Ceph (ephemeral)",
            "Storage.image_ceph checkbox false: Ceph (image)",
            "AdditionalServices.sahara checkbox false: Sahara",
            "AdditionalServices.murano checkbox false: Murano",
            "AdditionalServices.ceilometer checkbox false: Ceilometer",
            "AdditionalServices.ironic checkbox false: Ironic",
        ]
    );
    assert_eq!(merged.wizard["Compute"]["metadata"], json!({"label": "Hypervisor", "required": true}));
    assert_eq!(merged.wizard["AdditionalServices"]["metadata"], json!({"label": "Additional services"}));
    // No network plugin for vCenter is installed, which the release has a message for.
    let restrictions = merged.wizard["Compute"]["vmware"]["restrictions"].as_array().unwrap();
    let messages: BTreeSet<&str> = restrictions.iter().map(|it| it["message"].as_str().unwrap()).collect();
    assert!(
        messages.contains("vCenter needs a network plugin that supports it; install one first"),
        "{messages:?}"
    );
}

/// Every choice that the wizard permits is a valid selection once a required type is not empty.
#[test]
fn defaults_of_real_releases_are_valid() {
    for name in [
        "liberty-8.0-ubuntu",
        "mitaka-9.0-centos",
        "mitaka-9.0-ubuntu",
        "mitaka-9.0-ubuntu-uca",
        "newton-10.0-centos",
        "newton-10.0-ubuntu",
        "newton-10.0-ubuntu-uca",
        "ocata-11.0-centos",
        "ocata-11.0-ubuntu",
        "ocata-11.0-ubuntu-uca",
    ] {
        let Some(release) = real_release(name) else { return };
        let merged = generated(&release["components_metadata"], &[], &[]);
        let chosen = validate_answers(&merged, &serde_json::Map::new(), &|_| None, &BTreeSet::new()).unwrap();
        let defaults: BTreeSet<&str> = release["components_metadata"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|component| component["default"] == true)
            .map(|component| component["name"].as_str().unwrap())
            .collect();
        assert_eq!(chosen.components.iter().map(String::as_str).collect::<BTreeSet<_>>(), defaults, "{name}");
        let texts = Json::Object(merged.wizard).to_string();
        assert!(!texts.contains("dialog.") && !texts.contains("common.network"), "{name}: {texts}");
    }
}

#[test]
fn matrix_decides_between_radio_and_checkboxes() {
    let components = json!([
        {"name": "hypervisor:a", "incompatible": [{"name": "hypervisor:b"}, {"name": "hypervisor:c"}]},
        {"name": "hypervisor:b", "incompatible": [{"name": "hypervisor:c"}], "default": true},
        {"name": "hypervisor:c"},
        // Not all of these three exclude each other.
        {"name": "storage:block:a", "incompatible": [{"name": "storage:block:b"}]},
        {"name": "storage:block:b"},
        {"name": "storage:block:c", "incompatible": [{"name": "storage:block:b"}]},
        {"name": "monitoring:none", "weight": 7, "incompatible": [{"name": "monitoring:metadata"}]},
        {"name": "monitoring:metadata", "weight": 5},
    ]);
    assert_eq!(
        outline(&generated(&components, &["hypervisor"], &[])),
        [
            "Compute.hypervisor radio \"b\": Hypervisor",
            "- a: A",
            "- b: B",
            "- c: C",
            "Storage.block_a checkbox false: A",
            "Storage.block_b checkbox false: B",
            "Storage.block_c checkbox false: C",
            "Monitoring.monitoring radio \"none\": Monitoring",
            "- none: None",
            "- metadata: Metadata",
            "- monitoring:none: None",
        ]
    );
}

fn network() -> Json {
    json!([
        {"name": "network:ml2:vlan", "label": "VLAN", "default": true, "incompatible": [{"name": "network:ml2:*"}]},
        {"name": "network:ml2:tun", "label": "Tunnels"},
        {"name": "hypervisor:kvm", "label": "KVM", "default": true},
    ])
}

#[test]
fn plugin_options_are_merged_as_into_written_wizards() {
    let contrail = Extension {
        name: "contrail",
        component: json!({"name": "network:core:contrail", "incompatible": [{"name": "hypervisor:kvm"}]}),
        wizard: json!({
            "Network": {"manager": {"values": [{"data": "contrail", "label": "Contrail"}]}, "odd": {"label": "Odd"}},
            "Storage": {"tier": {"type": "text", "label": "Tier"}},
            "Ready": {"note": {"type": "text", "label": "Note"}},
            "Mode": {"size": {"type": "text", "label": "Size"}},
        }),
    };
    let merged = generated(&network(), &[], &[contrail]);
    assert_eq!(
        outline(&merged),
        [
            "Compute.kvm checkbox true: KVM",
            "Network.manager radio \"vlan\": Ml2",
            "- none: None",
            "- vlan: VLAN",
            "- tun: Tunnels",
            "- contrail: Contrail",
            "Storage.tier text null: Tier",
            "Mode.size text null: Size",
            "Ready.note text null: Note",
        ]
    );
    let options = merged.wizard["Network"]["manager"]["values"].as_array().unwrap();
    let contrail = options.iter().find(|option| option["data"] == "contrail").unwrap();
    assert_eq!(contrail["component"], "network:core:contrail");
    assert_eq!(contrail["restrictions"][0]["message"], "Contrail is not compatible with KVM");
}

#[test]
fn plugin_components_without_options_become_choices() {
    let excluding = Extension {
        name: "gre",
        component: json!({"name": "network:ml2:gre", "weight": 1}),
        wizard: Json::Null,
    };
    let other = Extension { name: "dvs", component: json!({"name": "network:dvs"}), wizard: Json::Null };
    let merged = generated(&network(), &[], &[excluding, other]);
    assert_eq!(
        outline(&merged)[1..],
        [
            "Network.manager radio \"vlan\": Ml2",
            "- none: None",
            "- vlan: VLAN",
            "- tun: Tunnels",
            "Network.ml2_gre checkbox false: The plugin (ml2)",
            "Network.dvs checkbox false: The plugin",
        ],
        "GRE and tunnels may be combined"
    );
    let answers = json!({"Network": {"manager": "vlan", "ml2_gre": true}});
    let evaluation = evaluate(&merged, answers.as_object().unwrap(), &|_| None);
    let gre = evaluation.controls.iter().find(|state| state.control == "ml2_gre").unwrap();
    assert_eq!(gre.effect.messages, ["The plugin (ml2) is not compatible with VLAN"]);
    assert_eq!(gre.value, json!(false));
}

#[test]
fn releases_without_components_have_no_wizard() {
    let plugin = Extension { name: "p", component: json!({"name": "network:p"}), wizard: json!({"Odd": {}}) };
    let merged = generated(&json!([]), &["network"], &[plugin]);
    assert_eq!(merged, MergedWizard::default());
}

#[test]
fn every_type_has_its_pane() {
    let components: Vec<Json> =
        ComponentType::ALL.iter().map(|kind| json!({"name": format!("{}:x", kind.as_str())})).collect();
    let merged = generated(&Json::Array(components), &[], &[]);
    let panes: Vec<&String> = merged.wizard.keys().collect();
    assert_eq!(panes, ["Compute", "Network", "Storage", "Monitoring", "AdditionalServices"]);
}
