//! Real releases and community plugins.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use stoker_diagnostics::Diagnostics;
use stoker_manifest::{Format, ParseOptions, parse_with, reader};
use stoker_model::{CompatibilityTarget, NewPlugin};
use stoker_registry::components::{PluginComponents, Registry, Selection, newest_supported};
use stoker_registry::package::{PackageCheckOptions, PackageTree, check};
use stoker_testkit::real_data;

fn document(path: &std::path::Path) -> Json {
    let text = std::fs::read_to_string(path).unwrap();
    let parsed =
        parse_with(&text, Format::Yaml, &ParseOptions { strict_keys: false, ..ParseOptions::default() });
    reader::json(&parsed.node.unwrap(), &mut Diagnostics::default()).unwrap()
}

pub(super) fn release(name: &str) -> Option<Json> {
    real_data(&format!("releases/{name}.yaml")).map(|path| document(&path))
}

fn plugins() -> Vec<NewPlugin> {
    let root = real_data("plugins/README.md").unwrap().parent().unwrap().join("community");
    let mut plugins = Vec::new();
    for folder in std::fs::read_dir(root).unwrap() {
        let folder = folder.unwrap().path();
        let files = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
        let texts: BTreeMap<String, String> = files
            .map(|path| {
                (
                    path.file_name().unwrap().to_string_lossy().into_owned(),
                    std::fs::read_to_string(path).unwrap(),
                )
            })
            .collect();
        let named = texts["metadata.yaml"].lines().filter_map(|line| line.split_once("_path:"));
        let paths = named.map(|(_, path)| path.trim().trim_matches(['\'', '"']).to_owned()).collect();
        let checked = check(&PackageTree { texts, paths }, PackageCheckOptions { strict_keys: false });
        plugins.push(checked.package.unwrap().plugin);
    }
    plugins
}

fn registry(release: &Json, plugins: &[NewPlugin]) -> Registry {
    let plugins: Vec<PluginComponents<'_>> = plugins.iter().map(PluginComponents::from_plugin).collect();
    let text = |key: &str| release[key].as_str().unwrap();
    let target = CompatibilityTarget {
        operating_system: text("operating_system"),
        version: text("version"),
        mode: None,
    };
    Registry::new(
        release["components_metadata"].as_array().unwrap(),
        &newest_supported(&plugins, Some(target)),
    )
}

#[test]
fn defaults_of_releases_are_compatible() {
    for name in ["liberty-8.0-ubuntu", "mitaka-9.0-ubuntu", "newton-10.0-ubuntu", "ocata-11.0-ubuntu"] {
        let Some(release) = release(name) else { return };
        let registry = registry(&release, &[]);
        let chosen =
            ["hypervisor:qemu", "network:neutron:core:ml2", "network:neutron:ml2:vlan", "storage:block:lvm"];
        let mut defaults = registry.components().iter().filter(|component| component.is_default);
        assert!(defaults.all(|component| chosen.contains(&&*component.name.to_string())), "{name}");
        let types = ["hypervisor", "network", "storage"];
        let decision = registry.check_selection(Selection { components: &chosen, required_types: &types });
        assert!(decision.is_compatible(), "{name}: {decision:?}");
    }
}

#[test]
fn mitaka_plugins_have_one_duplicate() {
    let Some(release) = release("mitaka-9.0-ubuntu") else { return };
    let registry = registry(&release, &plugins());
    assert_eq!(registry.components().len(), 23);
    let decision = registry.check_selection(Selection::default());
    assert_eq!(
        decision.to_json(),
        json!({"compatible": false, "conflicts": [
            {"component": "network:neutron:core:nsx", "kind": "duplicate", "providers": ["nsx-t", "nsxv"]},
        ]})
    );
    assert_eq!(registry.listing().len(), 23);
}

#[test]
fn nsx_does_not_satisfy_vcenter_in_newton() {
    let Some(release) = release("newton-10.0-ubuntu") else { return };
    let registry = registry(&release, &[]);
    let chosen = ["hypervisor:vmware", "hypervisor:qemu"];
    let decision = registry.check_selection(Selection { components: &chosen, required_types: &[] });
    assert_eq!(decision.conflicts.len(), 1, "{decision:?}");
    let finding = decision.conflicts[0].to_json();
    assert_eq!(finding["predicate"], "one_of");
    assert_eq!(finding["items"], json!(["network:neutron:ml2:dvs", "network:neutron:ml2:nsx"]));
}
