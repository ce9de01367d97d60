//! Conversion of the documents of a valid package to a plugin.

use std::collections::BTreeMap;

use stoker_model::{GraphType, Json, JsonMap, NewPlugin, Task};

use super::version::{PackageVersion, numbers};
use super::{Package, files};

/// Parsed documents.
#[derive(Default)]
pub(crate) struct Documents {
    pub(super) by_file: BTreeMap<&'static str, Json>,
    pub(crate) graph_tasks: Vec<Task>,
}

impl Documents {
    fn take(&mut self, name: &str) -> Option<Json> {
        self.by_file.remove(name)
    }

    fn take_map(&mut self, name: &str) -> JsonMap {
        into_map(self.take(name))
    }

    fn take_list(&mut self, name: &str) -> Vec<Json> {
        match self.take(name) {
            Some(Json::Array(items)) => items,
            _ => Vec::new(),
        }
    }
}

fn into_map(document: Option<Json>) -> JsonMap {
    match document {
        Some(Json::Object(map)) => map,
        _ => JsonMap::new(),
    }
}

/// Documents without a plugin field, and the keys in `extra` under which they are stored.
const EXTRA_DOCUMENTS: &[(&str, &str)] = &[
    (files::NETWORK_ROLES, "network_roles_metadata"),
    (files::NIC, "nic_attributes_metadata"),
    (files::BOND, "bond_attributes_metadata"),
    (files::NODE, "node_attributes_metadata"),
    (files::WIZARD, "wizard_metadata"),
];

/// Converts the documents to a package. Returns `None` only without metadata, which validation prevents.
pub(super) fn build(mut documents: Documents) -> Option<Package> {
    let mut metadata = into_map(documents.take(files::METADATA));
    let mut extra = JsonMap::new();
    for key in ["provides", "build_version"] {
        extra.extend(metadata.remove(key).map(|value| (key.to_owned(), value)));
    }
    for (file, key) in EXTRA_DOCUMENTS {
        extra.extend(documents.take(file).map(|document| ((*key).to_owned(), document)));
    }
    let mut settings = documents.take_map(files::SETTINGS);
    let plugin = NewPlugin {
        name: text(&metadata, "name")?,
        title: text(&metadata, "title")?,
        version: text(&metadata, "version")?,
        package_version: text(&metadata, "package_version")?,
        description: text(&metadata, "description"),
        homepage: text(&metadata, "homepage"),
        is_hotpluggable: metadata.get("is_hotpluggable").and_then(Json::as_bool).unwrap_or(false),
        fuel_version: texts(&metadata, "fuel_version"),
        groups: texts(&metadata, "groups"),
        authors: texts(&metadata, "authors"),
        licenses: texts(&metadata, "licenses"),
        releases: metadata.get("releases").and_then(Json::as_array).cloned().unwrap_or_default(),
        attributes_metadata: into_map(settings.remove("attributes")),
        roles_metadata: documents.take_map(files::NODE_ROLES),
        tags_metadata: JsonMap::new(),
        volumes_metadata: documents.take_map(files::VOLUMES),
        components_metadata: documents.take_list(files::COMPONENTS),
        tasks: documents.take_list(files::STAGE_TASKS),
        extra,
    };
    let graphs = if documents.graph_tasks.is_empty() {
        Vec::new()
    } else {
        vec![(GraphType::default(), documents.graph_tasks)]
    };
    Some(Package { plugin, graphs })
}

fn text(map: &JsonMap, key: &str) -> Option<String> {
    map.get(key).and_then(Json::as_str).map(str::to_owned)
}

fn texts(map: &JsonMap, key: &str) -> Vec<String> {
    let items = map.get(key).and_then(Json::as_array).into_iter().flatten();
    items.filter_map(Json::as_str).map(str::to_owned).collect()
}

impl Package {
    /// Returns the name of the installation directory. From package version 2 on, a patch release replaces
    /// the previous one, so the name contains only the first two version numbers.
    pub fn folder_name(&self) -> String {
        folder_name(&self.plugin)
    }
}

/// Returns the installation directory of a stored plugin; see [`Package::folder_name`].
pub fn folder_name(plugin: &NewPlugin) -> String {
    let version = version_line(plugin).unwrap_or_else(|| plugin.version.clone());
    format!("{}-{version}", plugin.name)
}

/// Returns the version line within which a release replaces the previous one: `1.2` for `1.2.3`. `None` if
/// versions are installed side by side.
pub fn version_line(plugin: &NewPlugin) -> Option<String> {
    let replaces =
        PackageVersion::parse(&plugin.package_version).is_some_and(|version| version >= PackageVersion::V2);
    let numbers = numbers(&plugin.version).filter(|_| replaces)?;
    Some(format!("{}.{}", numbers[0], numbers[1]))
}
