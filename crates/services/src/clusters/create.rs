//! Creation of a cluster with its settings, graph, links and plugins.

use serde_json::json;
use stoker_diagnostics::Diagnostic;
use stoker_model::{
    AuditChange, Cluster, GraphMetadata, GraphType, JsonMap, MergeMode, MergeOrder, NewCluster, NodeId,
    Owner, Release, ReleaseId, Resource, Tenant, TenantId, TenantRef, codes,
};
use stoker_settings::Server;
use stoker_store::{StoreError, WriteTransaction};

use super::choice::Choice;
use super::members::set_members;
use crate::cluster_settings::Defaults;
use crate::error::{ServiceError, ServiceResult};
use crate::plugins::condition_models::NET_PROVIDER;
use crate::plugins::links::link_cluster;
use crate::quotas::check_quota;
use crate::tenants::find_tenant;

/// A cluster to create.
pub struct ClusterRequest {
    pub name: String,
    pub release_id: ReleaseId,
    pub mode: Option<String>,
    pub net_provider: Option<String>,
    pub net_segment_type: Option<String>,
    pub nodes: Vec<NodeId>,
    /// Selected components.
    pub components: Option<Vec<String>>,
    /// Answers to the wizard of the release.
    pub wizard: Option<JsonMap>,
    pub ui_settings: JsonMap,
    pub tenant: TenantRef,
    pub merge_order: Option<MergeOrder>,
    pub merge_mode: Option<MergeMode>,
}

/// Creates a cluster with the default settings of its release and an empty graph of type `default`. The selected
/// components and the wizard answers set further settings and enable the plugins that provide the components.
pub async fn cluster_create(
    server: &Server,
    mut writing: WriteTransaction,
    request: ClusterRequest,
) -> ServiceResult<(Cluster, Tenant)> {
    let release = require_deployable(&mut writing, request.release_id).await?;
    let choice = Choice::read(&mut writing, &release, &request).await?;
    let tenant = find_tenant(&mut writing, &request.tenant).await?;
    let new = NewCluster {
        tenant_id: tenant.id,
        release_id: release.id,
        name: request.name,
        mode: choice.mode.clone(),
        net_provider: request
            .net_provider
            .or_else(|| choice.net_provider.clone())
            .unwrap_or_else(|| NET_PROVIDER.to_owned()),
        net_segment_type: choice.net_segment_type.clone().or(request.net_segment_type),
        components: choice.components.clone(),
        editable: JsonMap::new(),
        generated: JsonMap::new(),
        merge_order: request.merge_order,
        merge_mode: request.merge_mode,
    };
    let cluster = complete(server, &mut writing, &release, &choice, &new, request.ui_settings).await?;
    let has_joined = set_members(&mut writing, &cluster, &request.nodes).await?;
    check_quota(server.limits.quotas, &mut writing, tenant.id, Resource::Clusters).await?;
    if has_joined {
        check_quota(server.limits.quotas, &mut writing, tenant.id, Resource::Nodes).await?;
    }
    writing.commit(describe("cluster.create", &cluster)).await?;
    Ok((cluster, tenant))
}

/// Creates a cluster with the defaults of its release, within a larger transaction.
pub async fn cluster_create_in(
    server: &Server,
    writing: &mut WriteTransaction,
    release: &Release,
    tenant_id: TenantId,
    name: String,
) -> ServiceResult<Cluster> {
    let choice = Choice::plain(release)?;
    let new = NewCluster {
        tenant_id,
        release_id: release.id,
        name,
        mode: choice.mode.clone(),
        net_provider: NET_PROVIDER.to_owned(),
        net_segment_type: None,
        components: Vec::new(),
        editable: JsonMap::new(),
        generated: JsonMap::new(),
        merge_order: None,
        merge_mode: None,
    };
    complete(server, writing, release, &choice, &new, JsonMap::new()).await
}

async fn complete(
    server: &Server,
    writing: &mut WriteTransaction,
    release: &Release,
    choice: &Choice,
    new: &NewCluster,
    ui_settings: JsonMap,
) -> ServiceResult<Cluster> {
    let mut cluster = writing.cluster_create(new).await.map_err(name_conflict)?;
    // Settings may refer to the ID of the cluster, so the record is created first.
    let defaults = Defaults::new(server, &cluster, &release.body, writing.now());
    cluster.editable = defaults.editable(None)?;
    choice.apply(&mut cluster.editable);
    cluster.generated = defaults.generated()?;
    cluster.extensions.clone_from(&release.body.extensions);
    cluster.ui_settings = ui_settings;
    let cluster = writing.cluster_update(&cluster).await?;
    let owner = Owner::Cluster(cluster.id);
    writing.graph_create(owner, &GraphType::default(), &GraphMetadata::default(), &[]).await?;
    link_cluster(writing, &cluster, &release.body).await?;
    choice
        .enable(writing, &cluster, release, &Defaults::new(server, &cluster, &release.body, writing.now()))
        .await?;
    Ok(cluster)
}

pub(super) async fn require_deployable(
    writing: &mut WriteTransaction,
    id: ReleaseId,
) -> ServiceResult<Release> {
    let release =
        writing.release_get(id).await?.ok_or_else(|| ServiceError::invalid("Invalid release ID"))?;
    if release.body.is_deployable() {
        Ok(release)
    } else {
        let message = format!("Release with ID '{id}' is not deployable.");
        let problem = Diagnostic::error(codes::RELEASE_UNAVAILABLE, message)
            .help("update the release with `state: available`");
        Err(ServiceError::forbidden_for(problem))
    }
}

pub(super) fn name_conflict(error: StoreError) -> ServiceError {
    match error {
        StoreError::AlreadyExists { .. } => ServiceError::conflict("a cluster with this name already exists"),
        error => error.into(),
    }
}

pub(super) fn describe(action: &'static str, cluster: &Cluster) -> AuditChange {
    let detail =
        json!({"name": cluster.name, "release_id": cluster.release_id.0, "tenant_id": cluster.tenant_id.0});
    AuditChange { action, target: format!("cluster {}", cluster.id), detail }
}
