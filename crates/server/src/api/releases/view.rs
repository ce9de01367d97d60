//! Response types of releases.

use serde::Serialize;
use serde_json::json;
use stoker_model::{Json, JsonMap, Release};
use stoker_services::metadata::sections::show_own;
use utoipa::ToSchema;

use crate::http::response::ApiResponse;

/// Fields of Fuel's releases that are stored and are not part of the response: they are large and unused.
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

/// Release. Unknown fields of the release are returned beside these.
#[derive(Serialize, ToSchema)]
#[schema(as = Release)]
pub(super) struct ReleaseView {
    /// ID of the release.
    #[schema(example = 1)]
    id: i64,
    /// Name of the release.
    #[schema(example = "Newton on Ubuntu 16.04")]
    name: String,
    /// Version: `<openstack>-<environment>`.
    #[schema(example = "newton-10.0")]
    version: String,
    /// Human-readable description.
    description: Option<String>,
    /// Operating system of the nodes.
    #[schema(example = "Ubuntu")]
    operating_system: String,
    /// State: `available`, `unavailable` or `manageonly`.
    #[schema(example = "available")]
    state: &'static str,
    /// Deployment modes.
    #[schema(value_type = Object)]
    modes_metadata: JsonMap,
    /// Metadata of roles, by name.
    #[schema(value_type = Object)]
    roles_metadata: JsonMap,
    /// Metadata of tags, by name.
    #[schema(value_type = Object)]
    tags_metadata: JsonMap,
    /// Settings.
    #[schema(value_type = Attributes)]
    attributes_metadata: JsonMap,
    /// Components that the release provides.
    #[schema(value_type = Vec<Object>)]
    components_metadata: Vec<Json>,
    /// Whether clusters can be created from the release. True unless `state` is `unavailable`.
    is_deployable: bool,
}

/// Settings of a release.
#[derive(Serialize, ToSchema)]
#[schema(as = ReleaseAttributes)]
pub(super) struct Attributes {
    /// Settings that an operator may change.
    #[schema(value_type = Object)]
    pub(super) editable: JsonMap,
    /// Settings that are generated once when a cluster is created, such as keys.
    #[schema(value_type = Object)]
    pub(super) generated: JsonMap,
}

impl Attributes {
    pub(super) fn of(metadata: &JsonMap) -> Self {
        let part = |name| metadata.get(name).and_then(Json::as_object).cloned().unwrap_or_default();
        Self { editable: part("editable"), generated: part("generated") }
    }

    /// Adds an empty list of repositories if there is none: Fuel's clients modify the existing list and fail
    /// without it. An existing value is retained.
    pub(super) fn with_repositories(mut self) -> Self {
        let section = self.editable.entry("repo_setup").or_insert_with(|| json!({}));
        if let Some(section) = section.as_object_mut() {
            section
                .entry("repos")
                .or_insert_with(|| json!({"type": "custom_repo_configuration", "value": []}));
        }
        self
    }
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
        state: body.state.as_str(),
        modes_metadata: body.modes_metadata,
        roles_metadata: body.roles_metadata,
        tags_metadata: body.tags_metadata,
        attributes_metadata,
        components_metadata: body.components_metadata,
        is_deployable,
    };
    show_own(view, body.extra, HIDDEN)
}

pub(super) fn answer(release: Release, make: fn(JsonMap) -> ApiResponse<JsonMap>) -> ApiResponse<JsonMap> {
    let generation = release.generation;
    make(show(release)).version(generation)
}
