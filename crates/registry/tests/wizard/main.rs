//! Mixed wizards and generated restrictions.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod answers;
mod conflicts;
mod evaluation;
mod generated;
mod restrictions;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use stoker_registry::components::ComponentName;
use stoker_registry::wizard::{MergedWizard, PluginWizard, merge_wizards};
use stoker_testkit::real_data;

fn plugin<'a>(name: &'a str, wizard: &'a Json) -> PluginWizard<'a> {
    PluginWizard { name, version: "1.0.0", wizard, components: Vec::new() }
}

fn mixed(release: &Json, plugins: &[PluginWizard<'_>]) -> Json {
    Json::Object(merge_wizards(release, plugins).unwrap().wizard)
}

/// Returns conflicts as `path kind plugin`.
fn conflicts(release: &Json, plugins: &[PluginWizard<'_>]) -> Vec<String> {
    let conflicts = merge_wizards(release, plugins).err().unwrap_or_default();
    conflicts
        .iter()
        .map(|conflict| format!("{} {} {}", conflict.path, conflict.kind, conflict.plugin))
        .collect()
}

fn release() -> Json {
    json!({"Compute": {}, "Network": {"manager": {"type": "radio", "values": [
        {"data": "vlan", "label": "VLAN", "bind": [{"cluster:net_segment_type": "vlan"}]},
    ]}}})
}

#[test]
fn reference_example() {
    let mesh = json!({"Network": {
        "manager": {"values": [
            {"data": "mesh", "label": "Mesh", "bind": [{"cluster:net_segment_type": "vlan"}, {"settings:mesh.metadata.enabled": true}]},
            {"data": "vlan", "restrictions": [{"wizard:Compute.ember == true": "Ember needs Mesh"}]},
        ]},
        "encrypt": {"type": "checkbox", "label": "Encrypt links", "weight": 30},
    }});
    let MergedWizard { wizard, owners, .. } = merge_wizards(&release(), &[plugin("mesh", &mesh)]).unwrap();
    assert_eq!(
        Json::Object(wizard),
        json!({"Compute": {}, "Network": {
            "manager": {"type": "radio", "values": [
                {
                    "data": "vlan", "label": "VLAN", "bind": [{"cluster:net_segment_type": "vlan"}],
                    "restrictions": [{"wizard:Compute.ember == true": "Ember needs Mesh"}],
                },
                {"data": "mesh", "label": "Mesh", "bind": [{"cluster:net_segment_type": "vlan"}, {"settings:mesh.metadata.enabled": true}]},
            ]},
            "encrypt": {"type": "checkbox", "label": "Encrypt links", "weight": 30},
        }})
    );
    assert_eq!(
        owners.into_iter().collect::<Vec<_>>(),
        [
            ("Network.encrypt".to_owned(), "mesh".to_owned()),
            ("Network.manager.values[\"mesh\"]".to_owned(), "mesh".to_owned()),
        ]
    );
    let label = json!({"Network": {"manager": {"values": [{"data": "vlan", "label": "Better VLAN"}]}}});
    assert_eq!(
        conflicts(&release(), &[plugin("mesh", &label)]),
        ["Network.manager.values[vlan].label scalar mesh"]
    );
}

#[test]
fn release_without_a_wizard_has_none() {
    let addition = json!({"Network": 5});
    for release in [json!({}), Json::Null] {
        assert_eq!(mixed(&release, &[plugin("p", &addition)]), json!({}));
    }
}

#[test]
fn all_kinds_of_conflicts_are_reported() {
    for (addition, expected) in [
        (json!({"Nowhere": {}}), vec!["Nowhere unknown_pane p"]),
        (json!({"network": {}}), vec!["network unknown_pane p"]),
        (json!({"Network": [1]}), vec!["Network type p"]),
        (json!({"Network": null, "Nowhere": null}), vec![]),
        (json!({"Network": {"manager": {"type": "checkbox"}}}), vec!["Network.manager.type scalar p"]),
        (json!({"Network": {"manager": {"type": ["radio"]}}}), vec!["Network.manager.type type p"]),
        (json!({"Network": {"manager": {"values": {"a": 1}}}}), vec!["Network.manager.values type p"]),
        (json!({"Network": {"manager": {"values": [1]}}}), vec!["Network.manager.values missing_data p"]),
        (
            json!({"Network": {"manager": {"values": [{"label": "x"}]}}}),
            vec!["Network.manager.values missing_data p"],
        ),
        (
            json!({"Network": {"new": {"values": [{"data": "a"}, {"data": "a"}]}}}),
            vec!["Network.new.values[a] duplicate_option p"],
        ),
        (
            json!({"Network": {"manager": {"values": [{"data": "vlan", "bind": [{"cluster:net_segment_type": "tun"}]}]}}}),
            vec!["Network.manager.values[vlan].bind.cluster:net_segment_type bind p"],
        ),
        (json!({"Network": {"manager": {"values": [{"data": "a"}, {"data": 1}, {"data": "1"}]}}}), vec![]),
    ] {
        assert_eq!(conflicts(&release(), &[plugin("p", &addition)]), expected, "{addition}");
    }
}

#[test]
fn duplicate_options_of_two_plugins_conflict() {
    let same = json!({"Network": {"manager": {"values": [{"data": "x", "label": "X"}]}}});
    assert_eq!(
        conflicts(&release(), &[plugin("b", &same), plugin("a", &same)]),
        ["Network.manager.values[x] duplicate_option b"]
    );
    // Two versions of one plugin do not conflict.
    let newer = PluginWizard { version: "1.10.0", ..plugin("a", &same) };
    let older = PluginWizard { version: "1.9.0", ..plugin("a", &same) };
    assert_eq!(conflicts(&release(), &[newer, older]), Vec::<String>::new());
    // A number and a string are different options.
    let (text, number) = (
        json!({"Network": {"manager": {"values": [{"data": "1"}]}}}),
        json!({"Network": {"manager": {"values": [{"data": 1}]}}}),
    );
    assert_eq!(conflicts(&release(), &[plugin("a", &text), plugin("b", &number)]), Vec::<String>::new());
}

#[test]
fn binds_are_merged() {
    let check = |base: Json, addition: Json, expected: Json| {
        let release = json!({"P": {"c": {"bind": base}}});
        let addition = json!({"P": {"c": {"bind": addition}}});
        assert_eq!(mixed(&release, &[plugin("p", &addition)])["P"]["c"]["bind"], expected);
    };
    check(json!("a:b"), json!("a:b"), json!("a:b"));
    check(json!("a:b"), json!("a:c"), json!(["a:b", "a:c"]));
    check(json!("a:b"), json!(["a:b"]), json!(["a:b"]));
    check(json!([{"a:b": 1}]), json!(["a:b", {"a:b": 1}]), json!([{"a:b": 1}, "a:b"]));
    check(Json::Null, json!("a:b"), json!("a:b"));
    let release = json!({"P": {"c": {"bind": [{"a:b": 1}]}}});
    for value in [json!(true), json!("1"), json!(1.0)] {
        let addition = json!({"P": {"c": {"bind": [{"a:b": value}]}}});
        assert_eq!(conflicts(&release, &[plugin("p", &addition)]), ["P.c.bind.a:b bind p"]);
    }
}

#[test]
fn lists_are_merged_and_nulls_ignored() {
    let release = json!({"P": {"metadata": {"restrictions": ["a"]}, "c": {"label": null}}});
    let addition =
        json!({"P": {"metadata": {"restrictions": ["b", "a"]}, "c": {"label": "C", "weight": null}}});
    assert_eq!(
        mixed(&release, &[plugin("p", &addition)]),
        json!({"P": {"metadata": {"restrictions": ["a", "b"]}, "c": {"label": "C"}}})
    );
    let option = json!({"P": {"c": {"values": [{"data": "x", "label": null}]}}});
    assert_eq!(mixed(&release, &[plugin("p", &option)])["P"]["c"]["values"], json!([{"data": "x"}]));
}

#[test]
fn new_options_are_linked_to_the_single_component_of_the_pane() {
    let addition = json!({"Network": {"manager": {"values": [{"data": "a"}, {"data": "b", "component": "network:other"}, {"data": "vlan"}]}}});
    let components = |names: &[&str]| names.iter().map(|name| ComponentName::parse(name).unwrap()).collect();
    let linked = |names: &[&str]| {
        let plugin = PluginWizard { components: components(names), ..plugin("p", &addition) };
        let values = mixed(&release(), &[plugin])["Network"]["manager"]["values"].clone();
        [0, 1, 2].map(|idx: usize| values[idx]["component"].clone())
    };
    assert_eq!(
        linked(&["network:core:a", "storage:b"]),
        [Json::Null, json!("network:core:a"), json!("network:other")]
    );
    assert_eq!(linked(&["network:core:a", "network:b"]), [Json::Null, Json::Null, json!("network:other")]);
}

#[test]
fn new_checkboxes_are_linked_to_the_single_component_of_the_pane() {
    let addition = json!({"Network": {
        "own": {"type": "checkbox", "label": "Own"},
        "other": {"type": "checkbox", "component": "network:other"},
        "kept": {"restrictions": ["wizard:Network.own == true"]},
        "size": {"type": "text"},
    }});
    let release = json!({"Network": {"kept": {"type": "checkbox", "label": "Kept"}}});
    let plugin = PluginWizard {
        components: vec![
            ComponentName::parse("network:a").unwrap(),
            ComponentName::parse("storage:b").unwrap(),
        ],
        ..plugin("p", &addition)
    };
    let network = mixed(&release, &[plugin])["Network"].clone();
    assert_eq!(network["own"]["component"], "network:a");
    assert_eq!(network["other"]["component"], "network:other");
    assert_eq!((&network["kept"]["component"], &network["size"]["component"]), (&Json::Null, &Json::Null));
}

#[test]
fn plugin_is_merged_into_real_wizards() {
    for name in ["2014.2.2-6.1-ubuntu", "2015.1.0-7.0-ubuntu", "liberty-8.0-ubuntu"] {
        let Some(path) = real_data(&format!("releases/{name}.yaml")) else { return };
        let text = std::fs::read_to_string(path).unwrap();
        let node = stoker_manifest::parse(&text, stoker_manifest::Format::Yaml).unwrap();
        let release =
            stoker_manifest::reader::json(&node, &mut stoker_diagnostics::Diagnostics::default()).unwrap();
        let wizard = &release["wizard_metadata"];
        assert_eq!(wizard.as_object().unwrap().len(), 6, "{name}");
        assert_eq!(mixed(wizard, &[]), *wizard);
        let addition = json!({"Network": {"manager": {"values": [
            {"data": "contrail", "label": "Contrail", "bind": [{"settings:contrail.metadata.enabled": true}]},
        ]}}});
        let result = mixed(wizard, &[plugin("contrail", &addition)]);
        let values = result["Network"]["manager"]["values"].as_array().unwrap();
        assert_eq!(values.last().unwrap()["data"], "contrail", "{name}");
        assert_eq!(&values[..values.len() - 1], wizard["Network"]["manager"]["values"].as_array().unwrap());
    }
}

fn wizards() -> impl Strategy<Value = Json> {
    let leaf =
        prop_oneof![Just(Json::Null), Just(json!("x")), Just(json!("y")), Just(json!(1)), Just(json!(true))];
    let bind = prop_oneof![Just(json!("a:b")), Just(json!([{"a:b": 1}])), Just(json!([{"a:b": 2}, "c:d"]))];
    let option = (prop::sample::select(vec!["vlan", "p", "q", "r"]), leaf.clone(), bind.clone())
        .prop_map(|(data, label, bind)| json!({"data": data, "label": label, "bind": bind}));
    let control = (leaf.clone(), prop::collection::vec(option, 0..3), bind)
        .prop_map(|(label, values, bind)| json!({"label": label, "values": values, "bind": bind}));
    let pane = prop::collection::btree_map(
        prop::sample::select(vec!["manager", "c", "d"]),
        prop_oneof![control, leaf],
        0..3,
    )
    .prop_map(|controls| {
        Json::Object(controls.into_iter().map(|(name, control)| (name.to_owned(), control)).collect())
    });
    prop::collection::btree_map(prop::sample::select(vec!["Network", "Compute", "Other"]), pane, 0..3)
        .prop_map(|panes| {
            Json::Object(panes.into_iter().map(|(name, pane)| (name.to_owned(), pane)).collect())
        })
}

/// Reports whether `new` contains all entries of `old`.
fn contains(old: &Json, new: &Json) -> bool {
    match (old, new) {
        (Json::Null, _) => true,
        (Json::Object(old), Json::Object(new)) => {
            old.iter().all(|(key, old)| new.get(key).is_some_and(|new| contains(old, new)))
        }
        (Json::Array(old), Json::Array(new)) => {
            old.iter().zip(new).all(|(old, new)| contains(old, new)) && new.len() >= old.len()
        }
        (Json::String(_), Json::Array(new)) => new.first() == Some(old),
        _ => old == new,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn merge_is_order_independent_and_preserves_the_release(release in wizards(), one in wizards(), other in wizards()) {
        let forth = merge_wizards(&release, &[plugin("a", &one), plugin("b", &other)]);
        let back = merge_wizards(&release, &[plugin("b", &other), plugin("a", &one)]);
        prop_assert_eq!(&forth, &back);
        if let Ok(mixed) = forth {
            let wizard = Json::Object(mixed.wizard);
            prop_assert!(release.as_object().unwrap().is_empty() || contains(&release, &wizard), "{release} {wizard}");
        }
        let alone = merge_wizards(&release, &[]).unwrap();
        prop_assert_eq!(Json::Object(alone.wizard), release);
    }
}
