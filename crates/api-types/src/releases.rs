//! Request and response types for releases.

use serde::{Deserialize, Serialize};
use stoker_model::{Json, JsonMap};
use utoipa::ToSchema;

/// Release. Additional fields of the release are returned as top-level fields too.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Release)]
pub struct ReleaseView {
    /// ID of the release.
    #[schema(example = 1)]
    pub id: i64,
    /// Name of the release.
    #[schema(example = "Newton on Ubuntu 16.04")]
    pub name: String,
    /// Version: `<openstack>-<environment>`.
    #[schema(example = "newton-10.0")]
    pub version: String,
    /// Human-readable description.
    pub description: Option<String>,
    /// Operating system of the nodes.
    #[schema(example = "Ubuntu")]
    pub operating_system: String,
    /// State: `available`, `unavailable` or `manageonly`.
    #[schema(example = "available")]
    pub state: String,
    /// Deployment modes.
    #[schema(value_type = Object)]
    pub modes_metadata: JsonMap,
    /// Metadata of roles, by name.
    #[schema(value_type = Object)]
    pub roles_metadata: JsonMap,
    /// Metadata of tags, by name.
    #[schema(value_type = Object)]
    pub tags_metadata: JsonMap,
    /// Default settings of clusters.
    #[schema(value_type = Attributes)]
    pub attributes_metadata: JsonMap,
    /// Components that the release provides.
    #[schema(value_type = Vec<Object>)]
    pub components_metadata: Vec<Json>,
    /// Whether clusters can be created from the release. True unless `state` is `unavailable`.
    pub is_deployable: bool,
}

/// Settings of a release.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = ReleaseAttributes)]
pub struct Attributes {
    /// Settings that an operator may change.
    #[schema(value_type = Object)]
    pub editable: JsonMap,
    /// Settings that are generated once when a cluster is created, such as keys.
    #[schema(value_type = Object)]
    pub generated: JsonMap,
}
