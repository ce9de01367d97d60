//! What enabled plugins add to a cluster besides tasks, and where two of them want the same place.

use std::collections::BTreeMap;

use stoker_model::{Json, JsonMap, NewPlugin};

/// Everything that a release and its plugins say about nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contributions {
    pub roles: JsonMap,
    pub volumes: Vec<Json>,
    /// From a role to the volumes it needs.
    pub volumes_roles_mapping: JsonMap,
    pub network_roles: Vec<Json>,
    /// By name of the plugin.
    pub nic_attributes: JsonMap,
    pub bond_attributes: JsonMap,
    /// By section.
    pub node_attributes: JsonMap,
}

/// One place that several want.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Collision {
    /// What it is: `role`, `volume`, `network_role`, `node_attributes`.
    pub kind: &'static str,
    pub name: String,
    /// In the order they were added: `release`, or names of plugins.
    pub owners: Vec<String>,
}

/// What a release says; maps and lists as it is stored.
#[derive(Clone, Copy, Debug)]
pub struct ReleaseParts<'a> {
    pub roles: &'a JsonMap,
    pub volumes: &'a JsonMap,
    pub network_roles: &'a [Json],
}

/// Joins what a release and its enabled plugins say. Plugins count in the order of their names, whatever order they are
/// given in.
pub fn contributions(
    release: ReleaseParts<'_>,
    plugins: &[&NewPlugin],
) -> Result<Contributions, Vec<Collision>> {
    let mut joined = Joining::default();
    joined.roles(release.roles, RELEASE, Json::clone);
    joined.volumes(release.volumes, RELEASE);
    joined.network_roles(release.network_roles, RELEASE);
    let mut plugins = plugins.to_vec();
    plugins.sort_by(|a, b| a.name.cmp(&b.name));
    for plugin in plugins {
        joined.plugin(plugin);
    }
    if joined.collisions.is_empty() { Ok(joined.result) } else { Err(joined.into_collisions()) }
}

const RELEASE: &str = "release";

#[derive(Default)]
struct Joining {
    result: Contributions,
    owners: BTreeMap<(&'static str, String), Vec<String>>,
    collisions: Vec<(&'static str, String)>,
}

impl Joining {
    fn into_collisions(mut self) -> Vec<Collision> {
        self.collisions.sort();
        self.collisions.dedup();
        let owners = self.owners;
        let collision = |(kind, name): (&'static str, String)| Collision {
            owners: owners.get(&(kind, name.clone())).cloned().unwrap_or_default(),
            kind,
            name,
        };
        self.collisions.into_iter().map(collision).collect()
    }

    /// Notes who wants a place, and whether nobody did before.
    fn is_first(&mut self, kind: &'static str, name: &str, owner: &str) -> bool {
        let owners = self.owners.entry((kind, name.to_owned())).or_default();
        owners.push(owner.to_owned());
        owners.len() == 1
    }

    fn collide(&mut self, kind: &'static str, name: &str) {
        self.collisions.push((kind, name.to_owned()));
    }

    fn plugin(&mut self, plugin: &NewPlugin) {
        self.roles(&plugin.roles_metadata, &plugin.name, |role| only_while_enabled(role, &plugin.name));
        self.volumes(&plugin.volumes_metadata, &plugin.name);
        let extra = |key: &str| plugin.extra.get(key);
        let network_roles = extra("network_roles_metadata").and_then(Json::as_array);
        self.network_roles(network_roles.map_or(&[], Vec::as_slice), &plugin.name);
        for (key, target) in [
            ("nic_attributes_metadata", &mut self.result.nic_attributes),
            ("bond_attributes_metadata", &mut self.result.bond_attributes),
        ] {
            target.extend(extra(key).map(|attributes| (plugin.name.clone(), attributes.clone())));
        }
        for (section, attributes) in
            extra("node_attributes_metadata").and_then(Json::as_object).into_iter().flatten()
        {
            if self.is_first("node_attributes", section, &plugin.name) {
                self.result.node_attributes.insert(section.clone(), attributes.clone());
            } else {
                self.collide("node_attributes", section);
            }
        }
    }

    fn roles(&mut self, roles: &JsonMap, owner: &str, adapt: impl Fn(&Json) -> Json) {
        for (name, role) in roles {
            if self.is_first("role", name, owner) {
                self.result.roles.insert(name.clone(), adapt(role));
            } else {
                self.collide("role", name);
            }
        }
    }

    fn volumes(&mut self, metadata: &JsonMap, owner: &str) {
        for volume in metadata.get("volumes").and_then(Json::as_array).into_iter().flatten() {
            let id = volume.get("id").and_then(Json::as_str).unwrap_or_default();
            if self.is_first("volume", id, owner) {
                self.result.volumes.push(volume.clone());
            } else {
                self.collide("volume", id);
            }
        }
        // A later mapping of a role replaces an earlier one.
        let mapping = metadata.get("volumes_roles_mapping").and_then(Json::as_object);
        self.result.volumes_roles_mapping.extend(mapping.cloned().unwrap_or_default());
    }

    fn network_roles(&mut self, roles: &[Json], owner: &str) {
        for role in roles {
            let id = role.get("id").and_then(Json::as_str).unwrap_or_default();
            if self.is_first("network_role", id, owner) {
                self.result.network_roles.push(role.clone());
                continue;
            }
            let known = self.result.network_roles.iter_mut().find(|known| known.get("id") == role.get("id"));
            if !known.is_some_and(|known| join_network_role(known, role)) {
                self.collide("network_role", id);
            }
        }
    }
}

/// A role of a plugin can only be given away while the plugin is enabled; its own restrictions come after that.
pub fn only_while_enabled(role: &Json, plugin: &str) -> Json {
    let mut role = role.clone();
    if let Some(map) = role.as_object_mut() {
        let restrictions = map.entry("restrictions").or_insert_with(|| Json::Array(Vec::new()));
        if let Json::Array(restrictions) = restrictions {
            restrictions.insert(0, Json::from(format!("settings:{plugin}.metadata.enabled == false")));
        }
    }
    role
}

/// Whether two descriptions of one network role go together: all alike but the addresses, which are joined by name. An
/// empty list of them takes all away.
fn join_network_role(known: &mut Json, role: &Json) -> bool {
    let without_vips = |role: &Json| {
        let mut role = role.clone();
        if let Some(Json::Object(properties)) = role.get_mut("properties") {
            properties.remove("vip");
        }
        role
    };
    if without_vips(known) != without_vips(role) {
        return false;
    }
    let vips_of = |role: &Json| role.pointer("/properties/vip").and_then(Json::as_array).cloned();
    let Some(added) = vips_of(role) else { return true };
    let mut vips = vips_of(known).unwrap_or_default();
    if added.is_empty() {
        vips.clear();
    }
    for vip in added {
        match vips.iter().find(|known| known.get("name") == vip.get("name")) {
            Some(known) if *known != vip => return false,
            Some(_) => {}
            None => vips.push(vip),
        }
    }
    if let Some(Json::Object(properties)) = known.get_mut("properties") {
        properties.insert("vip".to_owned(), Json::Array(vips));
    }
    true
}
