//! Conflict messages name the plugins and the release involved.

use serde_json::{Value as Json, json};
use stoker_registry::wizard::{PluginWizard, WizardConflict, merge_wizards};

fn messages(plugins: &[(&str, Json)]) -> Vec<String> {
    let release = json!({"Network": {"manager": {"type": "radio", "values": [
        {"data": "vlan", "label": "VLAN", "bind": [{"cluster:net": "vlan"}]}]}}});
    let wizards: Vec<PluginWizard<'_>> = plugins
        .iter()
        .map(|(name, wizard)| PluginWizard { name, version: "1.0.0", wizard, components: Vec::new() })
        .collect();
    merge_wizards(&release, &wizards).unwrap_err().iter().map(WizardConflict::message).collect()
}

#[test]
fn conflict_names_both_sides() {
    let option = |data: &str| json!({"Network": {"manager": {"values": [{"data": data, "label": data}]}}});
    assert_eq!(
        messages(&[("a", option("mesh")), ("b", option("mesh"))]),
        ["`Network.manager.values[mesh]` of plugins `b` and `a`: duplicate option `data`"]
    );
    assert_eq!(
        messages(&[("a", option("vlan"))]),
        ["`Network.manager.values[vlan].label` of plugin `a` and the release: conflicting values"]
    );
    let control = |label: &str| json!({"Network": {"encrypt": {"type": "checkbox", "label": label}}});
    assert_eq!(
        messages(&[("a", control("A")), ("b", control("B"))]),
        ["`Network.encrypt.label` of plugins `b` and `a`: conflicting values"]
    );
    let bind = |value: &str| {
        json!({"Network": {"manager": {"values": [
        {"data": "vlan", "bind": [{"settings:x": value}]}]}}})
    };
    assert_eq!(
        messages(&[("a", bind("1")), ("b", bind("2"))]),
        [
            "`Network.manager.values[vlan].bind.settings:x` of plugins `b` and `a`: it is bound to conflicting values"
        ]
    );
    assert_eq!(
        messages(&[("a", json!({"Moon": {}}))]),
        [
            "`Moon` of plugin `a` and the release: plugins cannot add panes; use a pane of the release: `Network`"
        ]
    );
}

#[test]
fn plugin_error_names_the_plugin_only() {
    assert_eq!(
        messages(&[("a", json!({"Network": {"manager": {"values": [{"label": "x"}]}}}))]),
        ["`Network.manager.values` of plugin `a`: an option must be a map with `data`"]
    );
    assert_eq!(
        messages(&[("a", json!([]))]),
        ["`the wizard` of plugin `a`: values of different types cannot be merged"]
    );
}
