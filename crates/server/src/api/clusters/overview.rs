//! Summary of all clusters, for the start page of the web UI.

use std::collections::HashMap;

use axum::extract::State;
use stoker_api_types::clusters::OverviewView;
use stoker_model::{ClusterId, RunName};
use stoker_store::ClusterFilter;

use crate::access::caller::Authenticated;
use crate::api::transactions::render_run;
use crate::http::error::ApiResult;
use crate::http::list::{Paging, list};
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

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
        last_run: last_runs.remove(&Some(cluster.id)).map(render_run),
    })
}
