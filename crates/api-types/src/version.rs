//! Request and response types for the version of the server.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Version information.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Version {
    /// Version of the API.
    #[schema(example = "1")]
    pub api: String,
    /// Whether operations require authentication.
    pub auth_required: bool,
    /// Feature groups that Fuel clients check.
    pub feature_groups: Vec<String>,
    /// OpenStack version that Fuel clients check.
    #[schema(example = "mitaka-10.0")]
    pub openstack_version: String,
    /// Version of Fuel whose clients are supported.
    #[schema(example = "10.0")]
    pub release: String,
    /// Version of the server.
    pub stoker: String,
}
