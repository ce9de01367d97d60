//! Response types of releases.

use serde_json::json;
use stoker_api_types::releases::{Attributes, ReleaseView};
use stoker_model::{Json, JsonMap, Release};
use stoker_services::metadata::sections::show_own;

use crate::http::response::{ApiResponse, with_warnings};

/// Fuel release fields that are stored but are not part of the response, because they are large and
/// unused.
const HIDDEN: &[&str] = &[
    "bond_attributes",
    "can_update_from_versions",
    "modes",
    "network_roles_metadata",
    "nic_attributes",
    "node_attributes",
    "roles",
    "vmware_attributes_metadata",
];

pub(super) fn render_attributes(metadata: &JsonMap) -> Attributes {
    let part = |name| metadata.get(name).and_then(Json::as_object).cloned().unwrap_or_default();
    Attributes { editable: part("editable"), generated: part("generated") }
}

/// Adds an empty list of repositories if there is none: clients of Fuel modify the existing list and fail
/// without it. An existing value is retained.
pub(super) fn with_repositories(mut attributes: Attributes) -> Attributes {
    let section = attributes.editable.entry("repo_setup").or_insert_with(|| json!({}));
    if let Some(section) = section.as_object_mut() {
        section.entry("repos").or_insert_with(|| json!({"type": "custom_repo_configuration", "value": []}));
    }
    attributes
}

/// Renders a release with its unknown fields.
pub(super) fn show(release: Release) -> JsonMap {
    let body = release.body;
    let is_deployable = body.is_deployable();
    let mut attributes_metadata = body.attributes_metadata;
    for half in ["editable", "generated"] {
        attributes_metadata.entry(half).or_insert_with(|| Json::Object(JsonMap::new()));
    }
    let view = ReleaseView {
        id: release.id.0,
        name: body.name,
        version: body.version,
        description: body.description,
        operating_system: body.operating_system,
        state: body.state.as_str().to_owned(),
        modes_metadata: body.modes_metadata,
        roles_metadata: body.roles_metadata,
        tags_metadata: body.tags_metadata,
        attributes_metadata,
        components_metadata: body.components_metadata,
        is_deployable,
        warnings: None,
    };
    show_own(view, body.extra, HIDDEN)
}

pub(super) fn answer(
    release: Release,
    warnings: Vec<String>,
    make: fn(JsonMap) -> ApiResponse<JsonMap>,
) -> ApiResponse<JsonMap> {
    let generation = release.generation;
    make(with_warnings(show(release), warnings)).version(generation)
}
