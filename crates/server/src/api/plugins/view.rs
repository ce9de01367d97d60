//! Response types of plugins.

use stoker_api_types::plugins::PluginView;
use stoker_model::{Json, JsonMap, Plugin};
use stoker_services::metadata::sections::show_own;

use crate::http::response::{ApiResponse, with_warnings};

/// Fields of packages that are stored for clusters and are not part of the response.
const HIDDEN: &[&str] = &[
    "bond_attributes_metadata",
    "network_roles_metadata",
    "nic_attributes_metadata",
    "node_attributes_metadata",
    "provides",
    "wizard_metadata",
];

/// Renders a plugin with its unknown fields.
pub(super) fn show(plugin: Plugin) -> JsonMap {
    let body = plugin.body;
    let view = PluginView {
        id: plugin.id.0,
        name: body.name,
        title: body.title,
        version: body.version,
        package_version: body.package_version,
        description: body.description,
        homepage: body.homepage,
        is_hotpluggable: body.is_hotpluggable,
        fuel_version: body.fuel_version,
        groups: body.groups,
        authors: body.authors,
        licenses: body.licenses,
        releases: body.releases.into_iter().map(with_os).collect(),
        warnings: None,
    };
    show_own(view, body.extra, HIDDEN)
}

/// Adds `os` if it is missing: Fuel's client fails without it.
fn with_os(mut release: Json) -> Json {
    if let Some(fields) = release.as_object_mut() {
        let os = fields.get("operating_system").cloned().unwrap_or_default();
        fields.entry("os").or_insert(os);
    }
    release
}

pub(super) fn answer(
    plugin: Plugin,
    warnings: Vec<String>,
    make: fn(JsonMap) -> ApiResponse<JsonMap>,
) -> ApiResponse<JsonMap> {
    let generation = plugin.generation;
    make(with_warnings(show(plugin), warnings)).version(generation)
}
