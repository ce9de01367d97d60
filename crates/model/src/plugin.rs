//! A plugin: a package that adds components, settings, roles and graphs.

use crate::{Json, JsonMap, Micros, PluginId};

/// Default directory of plugin scripts on nodes; existing plugins rely on it.
pub const PLUGIN_SCRIPTS_ROOT: &str = "/etc/fuel/plugins";

#[derive(Clone, Debug, PartialEq)]
pub struct Plugin {
    pub id: PluginId,
    pub generation: i64,
    pub body: NewPlugin,
    pub created_at: Micros,
}

impl Plugin {
    /// Returns the directory of the scripts of the plugin on a node, below the common root of plugin scripts.
    pub fn scripts_folder(&self, root: &str) -> String {
        format!("{}/{}-{}/", root.trim_end_matches('/'), self.body.name, self.body.version)
    }
}

/// A plugin before it has an id: all of its changeable fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewPlugin {
    pub name: String,
    pub title: String,
    pub version: String,
    pub package_version: String,
    pub description: Option<String>,
    pub homepage: Option<String>,
    pub is_hotpluggable: bool,
    pub fuel_version: Vec<String>,
    pub groups: Vec<String>,
    pub authors: Vec<String>,
    pub licenses: Vec<String>,
    /// Entries `{os, version, mode, deployment_scripts_path, repository_path, …}`.
    pub releases: Vec<Json>,
    pub attributes_metadata: JsonMap,
    pub roles_metadata: JsonMap,
    pub tags_metadata: JsonMap,
    pub volumes_metadata: JsonMap,
    pub components_metadata: Vec<Json>,
    /// Legacy tasks, placed by stage.
    pub tasks: Vec<Json>,
    /// Unknown fields, stored as received.
    pub extra: JsonMap,
}

impl NewPlugin {
    /// Creates a plugin with only an identity; its title is its name.
    pub fn new(name: &str, version: &str, package_version: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: name.to_owned(),
            version: version.to_owned(),
            package_version: package_version.to_owned(),
            ..Self::default()
        }
    }
}
