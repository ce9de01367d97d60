//! Contributions of enabled plugins to a cluster besides tasks, and collisions between them.

use std::collections::BTreeMap;

use stoker_model::{Json, JsonMap, NewPlugin};

/// Merged node metadata of a release and its plugins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contributions {
    pub roles: JsonMap,
    pub volumes: Vec<Json>,
    /// Volumes required by each role.
    pub volumes_roles_mapping: JsonMap,
    pub network_roles: Vec<Json>,
    /// NIC attributes by plugin name.
    pub nic_attributes: JsonMap,
    pub bond_attributes: JsonMap,
    /// Node attributes by section.
    pub node_attributes: JsonMap,
}

/// Name claimed by several owners.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Collision {
    /// `role`, `volume`, `network_role` or `node_attributes`.
    pub kind: &'static str,
    pub name: String,
    /// Contributors in the order they were added: `release` or plugin names.
    pub owners: Vec<String>,
}

/// Node metadata of a release in its stored form.
#[derive(Clone, Copy, Debug)]
pub struct ReleaseMetadata<'a> {
    pub roles: &'a JsonMap,
    pub volumes: &'a JsonMap,
    pub network_roles: &'a [Json],
}

/// Merges the metadata of a release and its enabled plugins. Plugins are merged in the order of their names,
/// independent of the order of the slice.
pub fn merge_contributions(
    release: ReleaseMetadata<'_>,
    plugins: &[&NewPlugin],
) -> Result<Contributions, Vec<Collision>> {
    let mut merger = Merger::default();
    merger.roles(release.roles, RELEASE, Json::clone);
    merger.volumes(release.volumes, RELEASE);
    merger.network_roles(release.network_roles, RELEASE);
    let mut plugins = plugins.to_vec();
    plugins.sort_by(|a, b| a.name.cmp(&b.name));
    for plugin in plugins {
        merger.plugin(plugin);
    }
    if merger.collisions.is_empty() { Ok(merger.result) } else { Err(merger.into_collisions()) }
}

const RELEASE: &str = "release";

#[derive(Default)]
struct Merger {
    result: Contributions,
    owners: BTreeMap<(&'static str, String), Vec<String>>,
    collisions: Vec<(&'static str, String)>,
}

impl Merger {
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

    /// Records an owner of a name; returns whether it is the first.
    fn is_first(&mut self, kind: &'static str, name: &str, owner: &str) -> bool {
        let owners = self.owners.entry((kind, name.to_owned())).or_default();
        owners.push(owner.to_owned());
        owners.len() == 1
    }

    fn collide(&mut self, kind: &'static str, name: &str) {
        self.collisions.push((kind, name.to_owned()));
    }

    fn plugin(&mut self, plugin: &NewPlugin) {
        self.roles(&plugin.roles_metadata, &plugin.name, |role| restrict_role_to_plugin(role, &plugin.name));
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
        // A later mapping of a role replaces an earlier mapping.
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
            let existing =
                self.result.network_roles.iter_mut().find(|existing| existing.get("id") == role.get("id"));
            if !existing.is_some_and(|existing| merge_network_role(existing, role)) {
                self.collide("network_role", id);
            }
        }
    }
}

/// Restricts a role of a plugin to clusters in which the plugin is enabled. The restrictions of the role
/// itself follow.
pub fn restrict_role_to_plugin(role: &Json, plugin: &str) -> Json {
    let mut role = role.clone();
    if let Some(map) = role.as_object_mut() {
        let restrictions = map.entry("restrictions").or_insert_with(|| Json::Array(Vec::new()));
        if let Json::Array(restrictions) = restrictions {
            restrictions.insert(0, Json::from(format!("settings:{plugin}.metadata.enabled == false")));
        }
    }
    role
}

/// Merges two declarations of a network role. They must be equal except for the VIPs, which are merged by
/// name. An empty VIP list removes all earlier VIPs.
fn merge_network_role(existing: &mut Json, role: &Json) -> bool {
    let without_vips = |role: &Json| {
        let mut role = role.clone();
        if let Some(Json::Object(properties)) = role.get_mut("properties") {
            properties.remove("vip");
        }
        role
    };
    if without_vips(existing) != without_vips(role) {
        return false;
    }
    let vips_of = |role: &Json| role.pointer("/properties/vip").and_then(Json::as_array).cloned();
    let Some(added) = vips_of(role) else { return true };
    let mut vips = vips_of(existing).unwrap_or_default();
    if added.is_empty() {
        vips.clear();
    }
    for vip in added {
        match vips.iter().find(|other| other.get("name") == vip.get("name")) {
            Some(other) if *other != vip => return false,
            Some(_) => {}
            None => vips.push(vip),
        }
    }
    if let Some(Json::Object(properties)) = existing.get_mut("properties") {
        properties.insert("vip".to_owned(), Json::Array(vips));
    }
    true
}
