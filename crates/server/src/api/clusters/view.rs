//! Request and response bodies of clusters.

use stoker_api_types::clusters::ClusterView;
use stoker_model::{Cluster, Json, JsonMap, MergeMode, MergeOrder, Tenant};
use stoker_services::clock;
use utoipa::ToSchema;

use stoker_services::plugins::condition_models::FUEL_VERSION;

pub(super) fn render_cluster(cluster: Cluster, tenant: Option<&Tenant>) -> ClusterView {
    ClusterView {
        id: cluster.id.0,
        name: cluster.name,
        status: cluster.status.as_str().to_owned(),
        release_id: cluster.release_id.0,
        mode: cluster.mode,
        net_provider: cluster.net_provider,
        changes: Vec::new(),
        is_customized: cluster.is_customized,
        fuel_version: FUEL_VERSION.to_owned(),
        is_locked: cluster.is_locked,
        components: cluster.components,
        ui_settings: cluster.ui_settings,
        tenant: tenant.map(|tenant| tenant.name.clone()),
        tenant_id: cluster.tenant_id.0,
        merge_order: cluster.merge_order.map(MergeOrder::as_str).map(str::to_owned),
        merge_mode: cluster.merge_mode.map(MergeMode::as_str).map(str::to_owned),
        created_at: clock::plain(cluster.created_at),
    }
}

/// Request body to create a cluster. `tasks` and `net_segment_type` are accepted for compatibility and
/// ignored.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct NewClusterBody {
    #[schema(example = "demo", min_length = 1, max_length = 255)]
    name: String,
    /// ID of the release. Required, unless `release` is set.
    #[schema(example = 1)]
    release_id: Option<i64>,
    /// Alias of `release_id`.
    release: Option<i64>,
    /// Mode that the release supports: `ha_compact`, `ha_full` or `multinode` (default: the first supported
    /// mode).
    #[schema(example = "ha_compact")]
    mode: Option<String>,
    #[schema(example = "neutron", min_length = 1, max_length = 255)]
    net_provider: Option<String>,
    net_segment_type: Option<String>,
    /// IDs of the initial nodes.
    #[schema(example = json!([]))]
    nodes: Option<Vec<i64>>,
    #[schema(value_type = Option<Vec<Object>>, example = json!([]))]
    tasks: Option<Vec<Json>>,
    /// Names of the selected components, which must be compatible.
    #[schema(example = json!(["hypervisor:qemu"]))]
    components: Option<Vec<String>>,
    /// Answers to the wizard of the release: `{Pane: {control: value}}`. Controls without an answer have
    /// their default.
    #[schema(value_type = Option<Object>, example = json!({"Compute": {"hypervisor": "qemu"}}))]
    wizard: Option<JsonMap>,
    #[schema(value_type = Option<Object>)]
    ui_settings: Option<JsonMap>,
    /// Name or ID of the tenant (default: the tenant of the caller).
    #[schema(example = "admin")]
    tenant: Option<String>,
    #[schema(example = "release,cluster,plugins")]
    merge_order: Option<String>,
    #[schema(example = "attributes")]
    merge_mode: Option<String>,
}

/// Request body to update a cluster. Omitted fields are unchanged; read-only fields are ignored.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct ClusterBody {
    #[schema(nullable = false, example = "demo", min_length = 1, max_length = 255)]
    name: Option<String>,
    #[schema(nullable = false, example = "ha_compact")]
    mode: Option<String>,
    /// IDs of all nodes of the cluster: missing nodes are removed, new nodes are added without roles.
    #[schema(nullable = false)]
    nodes: Option<Vec<i64>>,
    /// Must equal the current components.
    #[schema(nullable = false)]
    components: Option<Vec<String>>,
    #[schema(nullable = false, value_type = Option<Object>)]
    ui_settings: Option<JsonMap>,
    /// Name or ID of the tenant.
    #[schema(example = "admin")]
    tenant: Option<String>,
    /// Order in which graph layers are merged; null for the default of the server.
    #[schema(example = "release,plugins,cluster")]
    merge_order: Option<String>,
    /// What a layer of higher priority overrides; null for the default of the server.
    #[schema(example = "replace")]
    merge_mode: Option<String>,
}
