//! Clusters.

use serde::{Deserialize, Serialize};
use stoker_model::{Json, JsonMap};
use utoipa::ToSchema;

use crate::transactions::RunView;

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = ClusterOverview)]
pub struct OverviewView {
    /// ID of the cluster.
    #[schema(example = 3)]
    pub id: i64,
    /// Number of nodes.
    #[schema(example = 10000)]
    pub n_nodes: i64,
    /// Number of nodes that are online.
    #[schema(example = 9998)]
    pub n_online: i64,
    /// Last deployment; null if there is none.
    pub last_run: Option<RunView>,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Cluster)]
pub struct ClusterView {
    #[schema(example = 3)]
    pub id: i64,
    #[schema(example = "demo")]
    pub name: String,
    /// `new`, `deployment`, `stopped`, `operational`, `error`, `remove` or `partially_deployed`.
    #[schema(example = "new")]
    pub status: String,
    #[schema(example = 1)]
    pub release_id: i64,
    /// `ha_compact`, `ha_full` or `multinode`.
    #[schema(example = "ha_compact")]
    pub mode: String,
    #[schema(example = "neutron")]
    pub net_provider: String,
    /// Always empty, for compatibility; create a plan to see changes.
    pub changes: Vec<Json>,
    /// Whether facts were uploaded to replace the computed ones.
    pub is_customized: bool,
    pub fuel_version: String,
    /// Whether the settings are locked; locked settings can only be changed with `force`.
    pub is_locked: bool,
    /// Names of the selected components.
    pub components: Vec<String>,
    #[schema(value_type = Object)]
    pub ui_settings: JsonMap,
    /// Name of the tenant.
    #[schema(example = "admin")]
    pub tenant: Option<String>,
    pub tenant_id: i64,
    /// Order in which graph layers are merged, lowest priority first; null for the default of the server.
    #[schema(example = "release,cluster,plugins")]
    pub merge_order: Option<String>,
    /// What a layer of higher priority overrides; null for the default of the server.
    #[schema(example = "attributes")]
    pub merge_mode: Option<String>,
    pub created_at: String,
}
