//! Response types of plugins.

use serde::Serialize;
use stoker_model::{Json, JsonMap, Plugin};
use stoker_services::metadata::sections::show_own;
use utoipa::ToSchema;

use crate::http::response::ApiResponse;

/// Fields of packages that are stored for clusters and are not part of the response.
const HIDDEN: &[&str] = &[
    "bond_attributes_metadata",
    "network_roles_metadata",
    "nic_attributes_metadata",
    "node_attributes_metadata",
    "provides",
    "wizard_metadata",
];

/// Plugin. Unknown fields of the plugin are returned beside these.
#[derive(Serialize, ToSchema)]
#[schema(as = Plugin)]
pub(super) struct PluginView {
    /// ID of the plugin.
    #[schema(example = 4)]
    id: i64,
    /// Name of the plugin.
    #[schema(example = "gridnet")]
    name: String,
    /// Display name.
    #[schema(example = "GridNet")]
    title: String,
    /// Version of the plugin.
    #[schema(example = "1.0.0")]
    version: String,
    /// Version of the package format.
    #[schema(example = "5.0.0")]
    package_version: String,
    /// Human-readable description.
    description: Option<String>,
    /// URL of the homepage.
    homepage: Option<String>,
    /// Whether the plugin can be enabled after the first deployment.
    is_hotpluggable: bool,
    /// Compatible versions of Fuel.
    fuel_version: Vec<String>,
    /// Groups of the plugin, such as `network`.
    groups: Vec<String>,
    /// Authors.
    authors: Vec<String>,
    /// Licenses.
    licenses: Vec<String>,
    /// Compatible releases, each with `os` and `version`.
    #[schema(value_type = Vec<Object>)]
    releases: Vec<Json>,
}

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

pub(super) fn answer(plugin: Plugin, make: fn(JsonMap) -> ApiResponse<JsonMap>) -> ApiResponse<JsonMap> {
    let generation = plugin.generation;
    make(show(plugin)).version(generation)
}
