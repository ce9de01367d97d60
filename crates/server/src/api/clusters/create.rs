//! A new cluster and everything that comes with it.

use serde_json::json;
use stoker_model::{
    Change, Cluster, GraphMetadata, GraphType, JsonMap, NewCluster, Owner, Release, ReleaseId, Tenant,
};
use stoker_store::{StoreError, Writing};

use super::modes;
use super::read::NewBody;
use super::settings::Defaults;
use crate::access::caller::Authenticated;
use crate::api::assignment::set_members;
use crate::api::users::{TenantRef, find_tenant};
use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

const NET_PROVIDER: &str = "neutron";

pub(super) async fn create(app: &App, login: &Authenticated, body: NewBody) -> ApiResult<(Cluster, Tenant)> {
    let release_id =
        body.releases.agreed()?.ok_or_else(|| ApiError::bad_request("Release ID is required"))?;
    let mut writing = app.change(login).await?;
    let tenant = body.tenant.unwrap_or(TenantRef::Id(login.caller.tenant_id));
    let tenant = find_tenant(&mut writing, &tenant).await?;
    let release = deployable(&mut writing, release_id).await?;
    let new = NewCluster {
        tenant_id: tenant.id,
        release_id: release.id,
        name: body.name,
        mode: modes::choose(&release.body, body.mode.as_deref())?,
        net_provider: body.net_provider.unwrap_or_else(|| NET_PROVIDER.to_owned()),
        components: body.components,
        editable: JsonMap::new(),
        generated: JsonMap::new(),
        merge_order: body.merge_order,
        merge_mode: body.merge_mode,
    };
    let mut cluster = writing.cluster_create(&new).await.map_err(taken)?;
    // Settings may hold the id of their cluster, so there must be one first.
    let defaults = Defaults::new(app, &cluster, &release.body, writing.now());
    cluster.editable = defaults.editable(None)?;
    cluster.generated = defaults.generated()?;
    cluster.extensions.clone_from(&release.body.extensions);
    cluster.ui_settings = body.ui_settings;
    let cluster = writing.cluster_update(&cluster).await?;
    let owner = Owner::Cluster(cluster.id);
    writing.graph_create(owner, &GraphType::default(), &GraphMetadata::default(), &[]).await?;
    set_members(&mut writing, &cluster, &body.nodes).await?;
    writing.commit(describe("cluster.create", &cluster)).await?;
    Ok((cluster, tenant))
}

async fn deployable(writing: &mut Writing, id: ReleaseId) -> ApiResult<Release> {
    let release =
        writing.release_get(id).await?.ok_or_else(|| ApiError::bad_request("Invalid release ID"))?;
    if release.body.is_deployable() {
        Ok(release)
    } else {
        Err(ApiError::forbidden(format!("Release with ID '{id}' is not deployable.")))
    }
}

pub(super) fn taken(error: StoreError) -> ApiError {
    match error {
        StoreError::Taken { .. } => ApiError::conflict("Environment with this name already exists"),
        error => error.into(),
    }
}

pub(super) fn describe(action: &'static str, cluster: &Cluster) -> Change {
    let detail =
        json!({"name": cluster.name, "release_id": cluster.release_id.0, "tenant_id": cluster.tenant_id.0});
    Change { action, target: format!("cluster {}", cluster.id), detail }
}
