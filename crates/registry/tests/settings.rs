//! Restrictions of settings.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use serde_json::{Value as Json, json};
use stoker_registry::settings::{RestrictedSetting, restricted_settings};

fn restricted(settings: &Json) -> Vec<RestrictedSetting> {
    let cluster = json!({"mode": "ha_compact"});
    let models = |name: &str| match name {
        "settings" => Some(settings),
        "cluster" => Some(&cluster),
        _ => None,
    };
    restricted_settings(settings.as_object().unwrap(), &models)
}

fn describe(settings: &Json) -> Vec<String> {
    let words = |setting: &RestrictedSetting| {
        let mut words = vec![setting.path()];
        words.extend(setting.effect.is_hidden.then(|| "hidden".to_owned()));
        words.extend(setting.effect.is_disabled.then(|| "disabled".to_owned()));
        words.extend(setting.is_violated.then(|| "violated".to_owned()));
        words.extend(setting.effect.messages.iter().chain(&setting.errors).cloned());
        words.join(" ")
    };
    restricted(settings).iter().map(words).collect()
}

#[test]
fn restrictions_affect_settings_and_options() {
    let settings = json!({
        "storage": {
            "ceph": {"type": "checkbox", "value": true},
            "lvm": {"type": "checkbox", "value": true, "restrictions": [
                {"settings:storage.ceph.value == true": "not beside Ceph"},
                {"condition": "cluster:mode == 'multinode'", "action": "hide"}]},
            "size": {"type": "text", "value": "1", "restrictions": ["settings:storage.ceph.value == true"]},
            "kind": {"type": "radio", "value": "b", "values": [
                {"data": "a", "restrictions": ["cluster:mode == 'ha_compact'"]},
                {"data": "b", "restrictions": [{"cluster:mode == 'ha_compact'": "not in HA"}]},
                {"data": 3, "restrictions": [{"condition": "true", "message": "mind", "action": "none"}]}]},
        },
        "odd": 5,
        "broken": {"x": {"value": 1, "restrictions": ["nowhere:a == 1", 7]}},
    });
    assert_eq!(
        describe(&settings),
        [
            "storage.lvm disabled violated not beside Ceph",
            "storage.size disabled",
            "storage.kind[a] disabled",
            "storage.kind[b] disabled violated not in HA",
            "storage.kind[3] mind",
            &format!("broken.x {}", restricted(&settings)[5].errors[0]),
        ]
    );
    assert!(restricted(&settings)[5].errors[0].contains("nowhere"));
}

#[test]
fn section_restrictions_apply_to_its_settings() {
    let section = |enabled: bool, action: &str| {
        json!({"vmware": {
            "metadata": {"toggleable": true, "enabled": enabled, "restrictions": [
                {"condition": "cluster:mode == 'ha_compact'", "message": "no", "action": action}]},
            "box": {"type": "checkbox", "value": true, "restrictions": ["true"]},
        }})
    };
    assert_eq!(
        describe(&section(true, "disable")),
        ["vmware disabled violated no", "vmware.box disabled violated"]
    );
    // Settings that are off or hidden cannot be violated.
    assert_eq!(describe(&section(false, "disable")), ["vmware disabled no", "vmware.box disabled"]);
    assert_eq!(describe(&section(true, "hide")), ["vmware hidden no", "vmware.box disabled"]);
    assert_eq!(describe(&section(true, "none")), ["vmware no", "vmware.box disabled violated"]);
}
