//! Reading and updating one cluster.

use axum::extract::State;
use stoker_model::{Cluster, Resource, Tenant};
use stoker_store::WriteTransaction;

use super::access::cluster_of;
use super::create::{describe, name_conflict};
use super::modes;
use super::read::{ChangeBody, read_change};
use super::view::{ClusterBody, ClusterView};
use crate::access::caller::Authenticated;
use crate::api::assignment::set_members;
use crate::api::users::find_tenant;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
use crate::limits::check_quota;
use crate::state::App;

/// Retrieve a cluster
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}", params(("id" = i64, Path)),
    responses((status = 200, body = ClusterView))
)]
pub(super) async fn cluster_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<ClusterView>> {
    let mut session = app.store.snapshot().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    let tenant = session.tenant_get(cluster.tenant_id).await?;
    Ok(answer(cluster, tenant.as_ref()))
}

/// Update a cluster
///
/// Omitted fields are unchanged.
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}", params(("id" = i64, Path)), request_body = ClusterBody,
    responses((status = 200, body = ClusterView))
)]
pub(super) async fn cluster_update(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<ApiResponse<ClusterView>> {
    let body = document.fields(read_change)?;
    let mut writing = app.change(&login).await?;
    let mut cluster = cluster_of(&mut writing, &login, &path).await?;
    condition.check(cluster.generation)?;
    let before = cluster.tenant_id;
    let nodes = apply(&mut writing, &mut cluster, body).await?;
    let cluster = writing.cluster_update(&cluster).await.map_err(name_conflict)?;
    let has_moved = cluster.tenant_id != before;
    let has_joined = match nodes {
        Some(nodes) => set_members(&mut writing, &cluster, &nodes).await?,
        None => false,
    };
    if has_moved {
        check_quota(&app.limits, &mut writing, cluster.tenant_id, Resource::Clusters).await?;
    }
    // The nodes of a cluster belong to its tenant.
    if has_moved || has_joined {
        check_quota(&app.limits, &mut writing, cluster.tenant_id, Resource::Nodes).await?;
    }
    let tenant = writing.tenant_get(cluster.tenant_id).await?;
    writing.commit(describe("cluster.update", &cluster)).await?;
    Ok(answer(cluster, tenant.as_ref()))
}

/// Update a cluster
///
/// Same as `PUT`.
#[utoipa::path(
    patch, path = "/api/v1/clusters/{id}", params(("id" = i64, Path)), request_body = ClusterBody,
    responses((status = 200, body = ClusterView))
)]
pub(super) async fn cluster_patch(
    app: State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<ApiResponse<ClusterView>> {
    cluster_update(app, login, path, condition, document).await
}

/// Applies the body to the record. Returns the requested nodes, which the caller stores separately.
async fn apply(
    writing: &mut WriteTransaction,
    cluster: &mut Cluster,
    body: ChangeBody,
) -> ApiResult<Option<Vec<stoker_model::NodeId>>> {
    if body.releases.agreed()?.is_some_and(|id| id != cluster.release_id) {
        return Err(ApiError::bad_request(
            "the release of an environment cannot be changed; create a new environment",
        ));
    }
    if let Some(mode) = body.mode.filter(|mode| *mode != cluster.mode) {
        let release = writing.release_get(cluster.release_id).await?;
        let release = release.ok_or_else(|| ApiError::not_found("Release"))?;
        cluster.mode = modes::choose(&release.body, Some(&mode))?;
    }
    if let Some(tenant) = &body.tenant {
        cluster.tenant_id = find_tenant(writing, tenant).await?.id;
    }
    if let Some(name) = body.name {
        cluster.name = name;
    }
    if body.components.is_some_and(|components| components != cluster.components) {
        return Err(ApiError::bad_request(
            "the components of an environment cannot be changed after it is created; enable plugins in its settings \
             instead",
        ));
    }
    if let Some(ui_settings) = body.ui_settings {
        cluster.ui_settings = ui_settings;
    }
    body.merge_order.apply(&mut cluster.merge_order);
    body.merge_mode.apply(&mut cluster.merge_mode);
    Ok(body.nodes)
}

fn answer(cluster: Cluster, tenant: Option<&Tenant>) -> ApiResponse<ClusterView> {
    let generation = cluster.generation;
    ApiResponse::ok(ClusterView::new(cluster, tenant)).version(generation)
}
