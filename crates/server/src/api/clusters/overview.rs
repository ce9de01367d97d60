//! Summary of all clusters, for the start page of the web UI.

use std::collections::HashMap;

use axum::extract::State;
use serde::Serialize;
use stoker_model::{ClusterId, RunName};
use stoker_store::ClusterFilter;
use utoipa::ToSchema;

use crate::access::caller::Authenticated;
use crate::api::transactions::RunView;
use crate::http::response::ApiResponse;
use crate::http::error::ApiResult;
use crate::http::list::{Paging, list};
use crate::http::query::Query;
use crate::state::App;

#[derive(Serialize, ToSchema)]
#[schema(as = ClusterOverview)]
pub(super) struct OverviewView {
    /// ID of the cluster.
    #[schema(example = 3)]
    id: i64,
    /// Number of nodes.
    #[schema(example = 10000)]
    n_nodes: i64,
    /// Number of nodes that are online.
    #[schema(example = 9998)]
    n_online: i64,
    /// Last deployment; null if there is none.
    last_run: Option<RunView>,
}

/// List cluster summaries
///
/// Returns the number of nodes and the last deployment of each cluster, without loading the nodes.
#[utoipa::path(
    get, path = "/api/v1/clusters/overview", params(Paging),
    responses((status = 200, body = [OverviewView]))
)]
pub(super) async fn cluster_overview(
    State(app): State<App>,
    login: Authenticated,
    mut query: Query,
) -> ApiResult<ApiResponse<Vec<OverviewView>>> {
    let paging = list(&mut query);
    query.finish()?;
    let filter = ClusterFilter { tenant_id: login.tenant_limit(), ..ClusterFilter::default() };
    let mut session = app.store.snapshot().await?;
    let page = session.cluster_list(&filter, &paging).await?;
    let ids: Vec<ClusterId> = page.items.iter().map(|cluster| cluster.id).collect();
    let counts = session.node_counts(&ids).await?;
    let counts: HashMap<ClusterId, _> = counts.into_iter().map(|count| (count.cluster_id, count)).collect();
    let last_runs = session.runs_last(RunName::Deploy, &ids).await?;
    let mut last_runs: HashMap<Option<ClusterId>, _> =
        last_runs.into_iter().map(|run| (run.cluster_id, run)).collect();
    ApiResponse::page(&paging, page, |cluster| OverviewView {
        id: cluster.id.0,
        n_nodes: counts.get(&cluster.id).map_or(0, |count| count.n_nodes),
        n_online: counts.get(&cluster.id).map_or(0, |count| count.n_online),
        last_run: last_runs.remove(&Some(cluster.id)).map(RunView::from),
    })
}
