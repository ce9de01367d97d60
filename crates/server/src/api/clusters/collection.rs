//! Listing and creating clusters.

use axum::extract::State;
use stoker_model::ReleaseId;
use stoker_store::{ClusterFilter, List};

use super::create;
use super::read::read_new;
use super::view::{ClusterView, NewClusterBody};
use crate::access::caller::Authenticated;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::list::{Paging, list};
use crate::http::query::Query;
use crate::state::App;

/// List clusters
///
/// Members of a tenant see only the clusters of their tenant.
#[utoipa::path(
    get, path = "/api/v1/clusters",
    params(Paging, ("release_id" = Option<i64>, Query, description = "Filter by release ID")),
    responses((status = 200, body = [ClusterView]))
)]
pub(super) async fn cluster_list(
    State(app): State<App>,
    login: Authenticated,
    mut query: Query,
) -> ApiResult<ApiResponse<Vec<ClusterView>>> {
    let paging = list(&mut query);
    let release_id = query.natural("release_id").map(|id| ReleaseId(id as i64));
    query.finish()?;
    let filter = ClusterFilter { tenant_id: login.tenant_limit(), release_id };
    let mut session = app.store.snapshot().await?;
    let page = session.cluster_list(&filter, &paging).await?;
    let tenants = session.tenant_list(&List::default()).await?.items;
    ApiResponse::page(&paging, page, |cluster| {
        let tenant = tenants.iter().find(|tenant| tenant.id == cluster.tenant_id);
        ClusterView::new(cluster, tenant)
    })
}

/// Create a cluster
///
/// The cluster starts with the default settings of its release and an empty graph of type `default`. The
/// selection in `components` and `wizard` sets further settings and enables the plugins that provide the
/// selected components. An incompatible selection is rejected with all conflicts.
#[utoipa::path(
    post, path = "/api/v1/clusters", request_body = NewClusterBody,
    responses((status = 201, body = ClusterView))
)]
pub(super) async fn cluster_create(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<ApiResponse<ClusterView>> {
    let body = document.fields(read_new)?;
    let (cluster, tenant) = create::create(&app, &login, body).await?;
    let generation = cluster.generation;
    Ok(ApiResponse::created(ClusterView::new(cluster, Some(&tenant))).version(generation))
}
