//! Reading and updating one cluster.

use axum::extract::State;
use stoker_api_types::Request as _;
use stoker_api_types::clusters::{ClusterBody, ClusterView};
use stoker_model::{Cluster, Tenant};
use stoker_services::clusters;

use super::access::cluster_of;
use super::read::read_change;
use super::view::render_cluster;
use crate::access::caller::Authenticated;
use crate::api::patch::patch_as_put;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
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
/// Omitted fields are unchanged. Another `release_id` moves the cluster to that release. Read-only fields must have the
/// stored values if they are present.
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
    let update = document.fields(read_change)?.into_update()?;
    let mut writing = app.change(&login).await?;
    let cluster = cluster_of(&mut writing, &login, &path).await?;
    let tenant = writing.tenant_get(cluster.tenant_id).await?;
    document.check_read_only(ClusterBody::READ_ONLY, &render_cluster(cluster.clone(), tenant.as_ref()))?;
    let (cluster, tenant) =
        clusters::cluster_update(&app.settings, writing, cluster, &condition, update).await?;
    Ok(answer(cluster, tenant.as_ref()))
}

patch_as_put!(
    pub(super) cluster_patch = cluster_update,
    "/api/v1/clusters/{id}",
    "Update a cluster",
    ClusterBody => ClusterView
);

fn answer(cluster: Cluster, tenant: Option<&Tenant>) -> ApiResponse<ClusterView> {
    let generation = cluster.generation;
    ApiResponse::ok(render_cluster(cluster, tenant)).version(generation)
}
