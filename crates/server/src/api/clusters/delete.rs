//! Deletion of a cluster.

use axum::extract::State;
use stoker_api_types::transactions::RunView;
use stoker_services::clusters;

use super::access::cluster_of;
use crate::access::caller::Authenticated;
use crate::api::transactions::render_run;
use crate::http::error::ApiResult;
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

/// Delete a cluster
///
/// Deletes the cluster with its graphs, and releases its nodes.
#[utoipa::path(
    delete, path = "/api/v1/clusters/{id}",
    params(("id" = i64, Path), ("force" = Option<String>, Query, description = "`1` to delete the cluster even if a run is active; the run fails")),
    responses((status = 202, body = RunView))
)]
pub(super) async fn cluster_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    mut query: Query,
) -> ApiResult<ApiResponse<RunView>> {
    let force = query.boolean("force");
    query.finish()?;
    let mut writing = app.change(&login).await?;
    let cluster = cluster_of(&mut writing, &login, &path).await?;
    let deleted = clusters::cluster_delete(writing, cluster, &condition, force).await?;
    // A driver stops when its run is no longer registered.
    for run in deleted.failed {
        app.orchestrator.agents.remove_run(run);
    }
    Ok(ApiResponse::accepted(render_run(deleted.run)))
}
