//! How clusters are shown, and what may be said about them.

use serde::Serialize;
use stoker_model::{Cluster, Json, JsonMap, MergeMode, MergeOrder, Tenant};
use utoipa::ToSchema;
use stoker_services::clock;

use stoker_services::plugins::condition_models::FUEL_VERSION;

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Cluster)]
pub(super) struct ClusterView {
    #[schema(example = 3)]
    id: i64,
    #[schema(example = "demo")]
    name: String,
    /// `new`, `deployment`, `stopped`, `operational`, `error`, `remove` or `partially_deployed`.
    #[schema(example = "new")]
    status: &'static str,
    #[schema(example = 1)]
    release_id: i64,
    /// `ha_compact`, `ha_full` or `multinode`.
    #[schema(example = "ha_compact")]
    mode: String,
    #[schema(example = "neutron")]
    net_provider: String,
    /// Always empty: what changed since the last run is what a plan tells.
    changes: Vec<Json>,
    /// Whether somebody supplied facts.
    is_customized: bool,
    fuel_version: &'static str,
    /// Settings of a locked cluster change by force only.
    is_locked: bool,
    /// Names of the components chosen in the wizard.
    components: Vec<String>,
    #[schema(value_type = Object)]
    ui_settings: JsonMap,
    /// The name of its tenant.
    #[schema(example = "admin")]
    tenant: Option<String>,
    tenant_id: i64,
    /// Which layer of a graph wins; null: what the server says.
    #[schema(example = "release,cluster,plugins")]
    merge_order: Option<&'static str>,
    /// What a stronger layer overrides; null: what the server says.
    #[schema(example = "attributes")]
    merge_mode: Option<&'static str>,
    created_at: String,
}

impl ClusterView {
    pub(super) fn new(cluster: Cluster, tenant: Option<&Tenant>) -> Self {
        Self {
            id: cluster.id.0,
            name: cluster.name,
            status: cluster.status.as_str(),
            release_id: cluster.release_id.0,
            mode: cluster.mode,
            net_provider: cluster.net_provider,
            changes: Vec::new(),
            is_customized: cluster.is_customized,
            fuel_version: FUEL_VERSION,
            is_locked: cluster.is_locked,
            components: cluster.components,
            ui_settings: cluster.ui_settings,
            tenant: tenant.map(|tenant| tenant.name.clone()),
            tenant_id: cluster.tenant_id.0,
            merge_order: cluster.merge_order.map(MergeOrder::as_str),
            merge_mode: cluster.merge_mode.map(MergeMode::as_str),
            created_at: clock::plain(cluster.created_at),
        }
    }
}

/// A new cluster. `tasks` and `net_segment_type` are accepted for the sake of older clients and mean nothing.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
pub(super) struct NewClusterBody {
    #[schema(example = "demo", min_length = 1, max_length = 255)]
    name: String,
    /// Required; `release` is another name for it.
    #[schema(example = 1)]
    release_id: Option<i64>,
    release: Option<i64>,
    /// One that the release offers: `ha_compact`, `ha_full` or `multinode`.
    #[schema(example = "ha_compact")]
    mode: Option<String>,
    #[schema(example = "neutron", min_length = 1, max_length = 255)]
    net_provider: Option<String>,
    net_segment_type: Option<String>,
    /// Nodes to begin with, by id.
    #[schema(example = json!([]))]
    nodes: Option<Vec<i64>>,
    #[schema(value_type = Option<Vec<Object>>, example = json!([]))]
    tasks: Option<Vec<Json>>,
    /// What was chosen; refused unless it goes together.
    #[schema(example = json!(["hypervisor:qemu"]))]
    components: Option<Vec<String>>,
    /// Answers to the wizard of the release: `{Pane: {control: value}}`. What is not answered has its default.
    #[schema(value_type = Option<Object>, example = json!({"Compute": {"hypervisor": "qemu"}}))]
    wizard: Option<JsonMap>,
    #[schema(value_type = Option<Object>)]
    ui_settings: Option<JsonMap>,
    /// Name or id; the caller's own if not given.
    #[schema(example = "admin")]
    tenant: Option<String>,
    #[schema(example = "release,cluster,plugins")]
    merge_order: Option<String>,
    #[schema(example = "attributes")]
    merge_mode: Option<String>,
}

/// What may change; what is not given stays. Fields that only the server sets may be sent back and are ignored.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
pub(super) struct ClusterBody {
    #[schema(nullable = false, example = "demo", min_length = 1, max_length = 255)]
    name: Option<String>,
    #[schema(nullable = false, example = "ha_compact")]
    mode: Option<String>,
    /// All its nodes by id: others join, those not named leave.
    #[schema(nullable = false)]
    nodes: Option<Vec<i64>>,
    /// May be repeated, but not changed.
    #[schema(nullable = false)]
    components: Option<Vec<String>>,
    #[schema(nullable = false, value_type = Option<Object>)]
    ui_settings: Option<JsonMap>,
    #[schema(example = "admin")]
    tenant: Option<String>,
    /// Null: what the server says.
    #[schema(example = "release,plugins,cluster")]
    merge_order: Option<String>,
    #[schema(example = "replace")]
    merge_mode: Option<String>,
}
