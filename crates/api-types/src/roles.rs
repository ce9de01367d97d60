//! Request and response types for roles.

use serde::{Deserialize, Serialize};
use stoker_model::Json;
use utoipa::ToSchema;

/// Role of a release or a cluster.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Role)]
pub struct RoleView {
    /// Name of the role.
    #[schema(example = "compute")]
    pub name: String,
    /// Metadata: `name`, `description`, `tags`, `conflicts`, `group`, `limits` and others.
    #[schema(value_type = Object)]
    pub meta: Json,
    /// Volumes that the role uses.
    pub volumes_roles_mapping: Vec<VolumeOfRole>,
}

/// Volume that a role uses.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct VolumeOfRole {
    /// ID of the volume.
    #[schema(example = "os")]
    pub id: String,
    /// Allocated size: `all`, `min` or `full-disk`.
    #[schema(example = "min")]
    pub allocate_size: String,
}
