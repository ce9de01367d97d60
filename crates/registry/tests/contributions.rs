//! Contributions of enabled plugins to a cluster.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use stoker_model::{JsonMap, NewPlugin};
use stoker_registry::contributions::{Collision, Contributions, ReleaseMetadata, merge_contributions};
use stoker_registry::package::{PackageCheckOptions, PackageTree, check};

fn plugin(name: &str, roles: &Json, volumes: &Json, extra: &Json) -> NewPlugin {
    let metadata = format!(
        "{{name: {name}, title: T, description: D, version: 1.0.0, package_version: 4.0.0, fuel_version: ['8.0'], \
         releases: [], licenses: [], authors: [], homepage: h, groups: [], is_hotpluggable: false}}"
    );
    let texts = [
        ("metadata.yaml", metadata),
        ("environment_config.yaml", String::new()),
        ("deployment_tasks.yaml", "[]".to_owned()),
    ];
    let texts: BTreeMap<String, String> =
        texts.into_iter().map(|(file, text)| (file.to_owned(), text)).collect();
    let checked = check(&PackageTree { texts, ..PackageTree::default() }, PackageCheckOptions::default());
    let mut plugin = checked.package.unwrap().plugin;
    let map = |value: &Json| value.as_object().cloned().unwrap_or_default();
    (plugin.roles_metadata, plugin.volumes_metadata, plugin.extra) = (map(roles), map(volumes), map(extra));
    plugin
}

fn merge(plugins: &[&NewPlugin]) -> Result<Contributions, Vec<Collision>> {
    let roles = json!({"controller": {"name": "Controller"}});
    let volumes = json!({"volumes": [{"id": "os", "type": "vg"}], "volumes_roles_mapping": {"controller": [{"id": "os"}]}});
    let network_roles = [
        json!({"id": "mgmt", "default_mapping": "management", "properties": {"subnet": true, "vip": [{"name": "a"}]}}),
    ];
    merge_contributions(
        ReleaseMetadata {
            roles: roles.as_object().unwrap(),
            volumes: volumes.as_object().unwrap(),
            network_roles: &network_roles,
        },
        plugins,
    )
}

fn collision(kind: &'static str, name: &str, owners: &[&str]) -> Collision {
    Collision {
        kind,
        name: name.to_owned(),
        owners: owners.iter().map(|owner| (*owner).to_owned()).collect(),
    }
}

#[test]
fn contributions_are_merged() {
    let none = json!({});
    let a = plugin(
        "a",
        &json!({"ra": {"name": "A", "restrictions": ["cluster:x"]}}),
        &json!({"volumes": [{"id": "va", "type": "vg"}], "volumes_roles_mapping": {"ra": [{"id": "va"}], "controller": [{"id": "va"}]}}),
        &json!({"nic_attributes_metadata": {"x": {}}, "node_attributes_metadata": {"s": {}}}),
    );
    let b = plugin("b", &json!({"rb": {"name": "B"}}), &none, &json!({"nic_attributes_metadata": {"x": {}}}));
    let result = merge(&[&b, &a]).unwrap();
    assert_eq!(result.roles.keys().collect::<Vec<_>>(), ["controller", "ra", "rb"]);
    assert_eq!(
        result.roles["ra"]["restrictions"],
        json!(["settings:a.metadata.enabled == false", "cluster:x"])
    );
    assert_eq!(result.roles["rb"]["restrictions"], json!(["settings:b.metadata.enabled == false"]));
    assert!(result.roles["controller"].get("restrictions").is_none());
    assert_eq!(result.volumes.len(), 2);
    assert_eq!(result.volumes_roles_mapping["controller"], json!([{"id": "va"}]));
    assert_eq!(result.nic_attributes.keys().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(result.node_attributes.keys().collect::<Vec<_>>(), ["s"]);
    assert_eq!(merge(&[&a, &b]).unwrap(), result, "independent of the input order");
}

#[test]
fn collisions_list_all_owners() {
    let (roles, volumes) =
        (json!({"controller": {}, "r": {}}), json!({"volumes": [{"id": "os"}], "volumes_roles_mapping": {}}));
    let section = json!({"node_attributes_metadata": {"s": {}}});
    let (a, b) =
        (plugin("a", &roles, &volumes, &section), plugin("b", &json!({"r": {}}), &json!({}), &section));
    assert_eq!(
        merge(&[&b, &a]).unwrap_err(),
        [
            collision("node_attributes", "s", &["a", "b"]),
            collision("role", "controller", &["release", "a"]),
            collision("role", "r", &["a", "b"]),
            collision("volume", "os", &["release", "a"]),
        ]
    );
}

#[test]
fn vips_of_network_roles_are_merged() {
    let with = |properties: Json| {
        let roles = json!([{"id": "mgmt", "default_mapping": "management", "properties": properties}]);
        let extra: JsonMap = [("network_roles_metadata".to_owned(), roles)].into_iter().collect();
        let plugin = plugin("p", &json!({}), &json!({}), &Json::Object(extra));
        merge(&[&plugin]).map(|result| result.network_roles[0]["properties"]["vip"].clone())
    };
    assert_eq!(
        with(json!({"subnet": true, "vip": [{"name": "b"}, {"name": "a"}]})),
        Ok(json!([{"name": "a"}, {"name": "b"}]))
    );
    assert_eq!(with(json!({"subnet": true, "vip": []})), Ok(json!([])));
    assert_eq!(with(json!({"subnet": true})), Ok(json!([{"name": "a"}])));
    let clash = Err(vec![collision("network_role", "mgmt", &["release", "p"])]);
    assert_eq!(with(json!({"subnet": false, "vip": []})), clash);
    assert_eq!(with(json!({"subnet": true, "vip": [{"name": "a", "namespace": "x"}]})), clash);
}
