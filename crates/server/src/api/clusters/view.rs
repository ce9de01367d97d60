//! Conversion between clusters and their API types.

use stoker_api_types::clusters::ClusterView;
use stoker_model::{Cluster, MergeMode, MergeOrder, Tenant};
use stoker_services::clock;

use stoker_services::plugins::condition_models::FUEL_VERSION;

pub(super) fn render_cluster(cluster: Cluster, tenant: Option<&Tenant>) -> ClusterView {
    let net_segment_type = cluster.net_segment_type().to_owned();
    ClusterView {
        net_segment_type,
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
