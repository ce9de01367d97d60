//! Creation of a cluster with its settings, graph, links and plugins.

use serde_json::json;
use stoker_model::{
    AuditChange, Cluster, GraphMetadata, GraphType, JsonMap, NewCluster, Owner, Release, ReleaseId, Resource,
    Tenant, TenantId,
};
use stoker_services::plugins::condition_models::NET_PROVIDER;
use stoker_services::plugins::links::link_cluster;
use stoker_store::{StoreError, WriteTransaction};

use super::choice::Choice;
use super::read::NewBody;
use super::settings::Defaults;
use crate::access::caller::Authenticated;
use crate::api::assignment::set_members;
use crate::api::users::{TenantRef, find_tenant};
use crate::http::error::{ApiError, ApiResult};
use crate::limits::check_quota;
use crate::state::App;

pub(super) async fn create(app: &App, login: &Authenticated, body: NewBody) -> ApiResult<(Cluster, Tenant)> {
    let release_id =
        body.releases.agreed()?.ok_or_else(|| ApiError::bad_request("Release ID is required"))?;
    let mut writing = app.change(login).await?;
    let release = require_deployable(&mut writing, release_id).await?;
    let choice = Choice::read(&mut writing, &release, &body).await?;
    let tenant = body.tenant.unwrap_or(TenantRef::Id(login.caller.tenant_id));
    let tenant = find_tenant(&mut writing, &tenant).await?;
    let new = NewCluster {
        tenant_id: tenant.id,
        release_id: release.id,
        name: body.name,
        mode: choice.mode.clone(),
        net_provider: body
            .net_provider
            .or_else(|| choice.net_provider.clone())
            .unwrap_or_else(|| NET_PROVIDER.to_owned()),
        components: choice.components.clone(),
        editable: JsonMap::new(),
        generated: JsonMap::new(),
        merge_order: body.merge_order,
        merge_mode: body.merge_mode,
    };
    let cluster = complete(app, &mut writing, &release, &choice, &new, body.ui_settings).await?;
    let has_joined = set_members(&mut writing, &cluster, &body.nodes).await?;
    check_quota(&app.limits, &mut writing, tenant.id, Resource::Clusters).await?;
    if has_joined {
        check_quota(&app.limits, &mut writing, tenant.id, Resource::Nodes).await?;
    }
    writing.commit(describe("cluster.create", &cluster)).await?;
    Ok((cluster, tenant))
}

/// Creates a cluster with the defaults of its release, within a larger transaction.
pub(in crate::api) async fn make(
    app: &App,
    writing: &mut WriteTransaction,
    release: &Release,
    tenant_id: TenantId,
    name: String,
) -> ApiResult<Cluster> {
    let choice = Choice::plain(release)?;
    let new = NewCluster {
        tenant_id,
        release_id: release.id,
        name,
        mode: choice.mode.clone(),
        net_provider: NET_PROVIDER.to_owned(),
        components: Vec::new(),
        editable: JsonMap::new(),
        generated: JsonMap::new(),
        merge_order: None,
        merge_mode: None,
    };
    complete(app, writing, release, &choice, &new, JsonMap::new()).await
}

async fn complete(
    app: &App,
    writing: &mut WriteTransaction,
    release: &Release,
    choice: &Choice,
    new: &NewCluster,
    ui_settings: JsonMap,
) -> ApiResult<Cluster> {
    let mut cluster = writing.cluster_create(new).await.map_err(name_conflict)?;
    // Settings may refer to the ID of the cluster, so the record is created first.
    let defaults = Defaults::new(app, &cluster, &release.body, writing.now());
    cluster.editable = defaults.editable(None)?;
    choice.apply(&mut cluster.editable);
    cluster.generated = defaults.generated()?;
    cluster.extensions.clone_from(&release.body.extensions);
    cluster.ui_settings = ui_settings;
    let cluster = writing.cluster_update(&cluster).await?;
    let owner = Owner::Cluster(cluster.id);
    writing.graph_create(owner, &GraphType::default(), &GraphMetadata::default(), &[]).await?;
    link_cluster(writing, &cluster, &release.body).await?;
    choice.enable(writing, &cluster, release).await?;
    Ok(cluster)
}

async fn require_deployable(writing: &mut WriteTransaction, id: ReleaseId) -> ApiResult<Release> {
    let release =
        writing.release_get(id).await?.ok_or_else(|| ApiError::bad_request("Invalid release ID"))?;
    if release.body.is_deployable() {
        Ok(release)
    } else {
        Err(ApiError::forbidden(format!("Release with ID '{id}' is not deployable.")))
    }
}

pub(super) fn name_conflict(error: StoreError) -> ApiError {
    match error {
        StoreError::AlreadyExists { .. } => ApiError::conflict("Environment with this name already exists"),
        error => error.into(),
    }
}

pub(super) fn describe(action: &'static str, cluster: &Cluster) -> AuditChange {
    let detail =
        json!({"name": cluster.name, "release_id": cluster.release_id.0, "tenant_id": cluster.tenant_id.0});
    AuditChange { action, target: format!("cluster {}", cluster.id), detail }
}
