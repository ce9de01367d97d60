//! Request and response types for roles.

use serde::{Deserialize, Serialize};
use stoker_manifest::reader::string_with_length;
use stoker_model::{Json, JsonMap};
use utoipa::ToSchema;

use crate::metadata::{RoleMeta, complete_role_meta, path_name, volumes_of_role};
use crate::request::request;

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

request! {
    /// New role.
    pub struct NewRoleBody {
        /// Name of the role, unique within its owner.
        #[schema(example = "compute", min_length = 1, max_length = 255, pattern = "^[a-zA-Z0-9_-]+$")]
        name: String = required(path_name),
        /// Metadata of the role.
        #[schema(value_type = RoleMeta)]
        meta: JsonMap = required(complete_role_meta),
        /// Volumes that the role uses.
        #[schema(nullable = false, value_type = Option<Vec<VolumeOfRole>>)]
        volumes_roles_mapping: Option<Vec<Json>> = optional(volumes_of_role),
    }
}

request! {
    /// Update of a role. Omitted fields are unchanged.
    pub struct RoleBody {
        /// Name of the role. Cannot be changed; must equal the current name if present.
        #[schema(nullable = false, example = "compute", min_length = 1, max_length = 255)]
        name: Option<String> = optional(string_with_length(1..=255)),
        /// Metadata of the role; replaces the current one.
        #[schema(nullable = false, value_type = Option<RoleMeta>)]
        meta: Option<JsonMap> = optional(complete_role_meta),
        /// Volumes that the role uses; replaces the current ones.
        #[schema(nullable = false, value_type = Option<Vec<VolumeOfRole>>)]
        volumes_roles_mapping: Option<Vec<Json>> = optional(volumes_of_role),
    }
}
