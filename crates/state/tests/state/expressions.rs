//! Typical user expressions over computed documents.

use serde_json::json;
use stoker_model::{ClusterStatus, Json, NodeId};
use stoker_planner::{evaluate, library, options};
use stoker_state::{DesiredState, EffectiveState, EnabledPlugin, document};
use stoker_yaql::Engine;
use stoker_yaql::json::{WriteOptions, write};

use crate::records::{Records, map, node, plugin};

/// The value of an expression on a node, or the error message.
fn value(text: &str, uid: &str, new: &DesiredState, old: Option<&DesiredState>) -> Json {
    let state_of = |state: &DesiredState| {
        let own = state.nodes.iter().find(|node| node.uid == uid).unwrap();
        EffectiveState { common: document(&state.common), node: document(&own.document) }
    };
    let expression = Engine::new(library()).compile(text).unwrap();
    let options = options(new.nodes.len());
    match evaluate(&expression, &state_of(new), old.map(state_of).as_ref(), &options) {
        Ok(value) => serde_json::from_str(&write(&value, &WriteOptions::default()).unwrap()).unwrap(),
        Err(error) => json!({"error": error.message}),
    }
}

#[test]
fn example_expressions_have_expected_values() {
    let mut records = Records::new();
    records.plugins.push(plugin("watch"));
    let state = records.state();
    for (text, expected) in [
        ("$.cluster.status in ['new']", json!(true)),
        ("$.cluster.mode", json!("ha_compact")),
        ("$.release.operating_system + ' ' + $.release.version", json!("Ubuntu mitaka-9.0")),
        ("new($.settings.additional_components.murano.value) = true", json!(true)),
        ("$.murano.enabled and not $.debug", json!(true)),
        ("$.added_later", json!("by the release")),
        ("$.configs.nova.cpu_ratio", json!(8)),
        ("$.configs.get(neutron)", json!(null)),
        ("$.nodes.where($.role = 'compute').uid", json!(["3"])),
        ("$.nodes.where($.role = 'cinder').uid", json!(["3"])),
        ("$.nodes.where('cinder' in $.roles).role", json!(["cinder", "compute"])),
        ("$.nodes.where($.role = null).name", json!(["node-4"])),
        ("$.nodes.where('primary-database' in $.tags).uid", json!(["1"])),
        ("$.nodes.where($.label = '2').id", json!([2])),
        ("$.nodes.where($.labels.get(rack) = '2').id", json!([2])),
        ("$.nodes.where($.attributes.weight > 3).id", json!([4])),
        ("$.nodes.any($.attribute != null)", json!(false)),
        ("$.nodes.network_scheme(mtu)", json!([1500, 1500, 1500, 1500])),
        ("$.nodes.where($.role = compute).network_scheme(roles)", json!([{"management": "br-mgmt"}])),
        ("$.network_scheme.mtu", json!(1500)),
        ("$.uid + $.fqdn + $.ip", json!("3node-310.0.0.3")),
        ("$.roles", json!(["cinder", "compute"])),
        ("$.facts.kernel", json!("6.1")),
        ("$.watch.level", json!(5)),
        ("$.watch.kept", json!("as proposed")),
        ("$.settings.watch.metadata.plugin_version", json!("1.0.0")),
        ("$.plugins.select($.name + $.scripts)", json!(["watch/etc/fuel/plugins/watch-1.0.0/"])),
    ] {
        assert_eq!(value(text, "3", &state, None), expected, "{text}");
    }
}

#[test]
fn changes_affect_only_their_expressions() {
    const WATCHED: &[&str] = &[
        "changed($.cluster.status)",
        "changed($.nodes.where($.role = 'compute'))",
        "changed($.configs.nova)",
        "changed($.settings.additional_components.murano.value)",
        "changed($.debug)",
        "changed($.nodes.network_scheme(mtu))",
    ];
    type Change = fn(&mut Records);
    let changes: &[(&str, Change)] = &[
        ("changed($.cluster.status)", |records| records.cluster.status = ClusterStatus::Operational),
        ("changed($.nodes.where($.role = 'compute'))", |records| {
            records.nodes[2].labels = map(json!({"rack": "9"}));
        }),
        ("changed($.configs.nova)", |records| {
            records.cluster.editable["configs"] = json!({"nova": {"value": {"cpu_ratio": 9}}});
        }),
        ("changed($.settings.additional_components.murano.value)", |records| {
            records.cluster.editable["additional_components"]["murano"]["value"] = json!(false);
        }),
        ("changed($.debug)", |records| records.cluster.editable["common"]["debug"]["value"] = json!(true)),
        ("changed($.nodes.network_scheme(mtu))", |records| {
            records.nodes[0].facts["network_scheme"]["mtu"] = json!(9000);
        }),
    ];
    let old = Records::new().state();
    for (affected, change) in changes {
        let mut records = Records::new();
        change(&mut records);
        let new = records.state();
        for text in WATCHED {
            assert_eq!(
                value(text, "3", &new, Some(&old)),
                json!(text == affected),
                "{text} after {affected}"
            );
            assert_eq!(value(text, "3", &new, Some(&new)), json!(false), "{text}");
            assert_eq!(value(text, "3", &new, None), json!(true), "{text}");
        }
    }
}

#[test]
fn single_label_is_its_value_or_its_name() {
    let mut records = Records::new();
    records.nodes[0].labels = map(json!({"ssd": null}));
    records.nodes[1].labels = map(json!({"a": "1", "b": "2"}));
    records.nodes[2].attributes = map(json!({"zone": "south"}));
    let state = records.state();
    let labels = "$.nodes.label";
    assert_eq!(value(labels, "1", &state, None), json!(["ssd", null, "3", "3", "4"]));
    assert_eq!(value("$.nodes.where($.attribute = south).uid", "1", &state, None), json!(["3", "3"]));
}

#[test]
fn node_pending_deletion_is_not_listed() {
    let mut records = Records::new();
    records.nodes[2].pending_deletion = true;
    let state = records.state();
    assert_eq!(value("$.nodes.uid", "3", &state, None), json!(["1", "2", "4"]));
    assert_eq!(value("$.deleted", "3", &state, None), json!(true));
    assert_eq!(value("$.get(deleted, false)", "1", &state, None), json!(false));
}

#[test]
fn plugin_repositories_are_compared_by_digest() {
    let with = |digest: Option<&str>, print: &str| {
        let mut records = Records::new();
        let digest = digest.map(str::to_owned);
        records.plugins.push(EnabledPlugin { repository_digest: digest, ..plugin("watch") });
        records.package_access.insert(NodeId(1), print.to_owned());
        records.state()
    };
    let new = with(Some("r"), "print");
    let needs_update = "old($.get(plugin_repositories, {}).get('watch')) != 'r' \
                   or old($.get(package_access)) != $.get(package_access)";
    let needs_removal = "old($.get(plugin_repositories, {}).get('watch')) != null";
    for (old, uid, is_update_expected, is_removal_expected) in [
        (None, "1", true, false),
        (Some(with(Some("r"), "print")), "1", false, true),
        (Some(with(Some("q"), "print")), "1", true, true),
        (Some(with(Some("r"), "another")), "1", true, true),
        (Some(with(Some("r"), "another")), "2", false, true),
        (Some(with(None, "print")), "1", true, false),
    ] {
        assert_eq!(value(needs_update, uid, &new, old.as_ref()), json!(is_update_expected), "{uid} {old:?}");
        assert_eq!(
            value(needs_removal, uid, &new, old.as_ref()),
            json!(is_removal_expected),
            "{uid} {old:?}"
        );
    }
}

/// On which nodes the roles demand an update after nodes were added.
#[test]
fn roles_demand_updates_when_nodes_are_added() {
    let updated = |added: &[(i64, &str)], metadata: Json| {
        let with_metadata = |mut records: Records| {
            records.cluster.roles_metadata = map(metadata.clone());
            records
        };
        let old = with_metadata(Records::new());
        let condition = old.update_condition()?;
        let mut new = with_metadata(Records::new());
        new.nodes.extend(added.iter().map(|(id, role)| node(*id, &[role])));
        let (old, new) = (old.state(), new.state());
        let is_updated = |uid: &&&str| value(&condition, uid, &new, Some(&old)) == json!(true);
        Some(["1", "2", "3", "4"].iter().filter(is_updated).copied().collect::<Vec<_>>().join(" "))
    };
    let metadata = json!({
        "controller": {"update_required": ["compute", "mongo"]},
        "ceph-osd": {"update_once": ["controller"]},
        "compute": {"update_once": ["controller"]},
        "it's": {"update_required": ["\\"]},
    });
    let of = |added: &[(i64, &str)]| updated(added, metadata.clone()).unwrap();
    assert_eq!(of(&[]), "");
    assert_eq!(of(&[(5, "controller")]), "3");
    assert_eq!(of(&[(5, "ceph-osd")]), "1 2");
    assert_eq!(of(&[(5, "compute")]), "", "there was a compute node before");
    assert_eq!(of(&[(5, "ceph-osd"), (6, "controller")]), "1 2 3");
    assert_eq!(of(&[(5, "cinder")]), "");
    assert_eq!(updated(&[], json!({"controller": {"update_required": []}})), None);
}
