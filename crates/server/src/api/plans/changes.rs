//! Staleness of plans: changes of their inputs since they were created.

use axum::extract::State;
use serde::Serialize;
use stoker_services::planning::changes_since;
use utoipa::ToSchema;

use super::access::require_plan;
use crate::access::caller::Authenticated;
use crate::api::clusters::access::require_cluster;
use crate::http::response::ApiResponse;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::state::App;

/// Changes of the inputs of a plan since it was created.
#[derive(Serialize, ToSchema)]
#[schema(as = PlanChanges)]
pub(super) struct ChangesView {
    /// Whether planning now would return the same plan.
    is_current: bool,
    /// Changed inputs.
    #[schema(example = json!(["the setting `debug` of all nodes", "node 5"]))]
    changes: Vec<String>,
}

/// List changes since a plan was created
///
/// Reports changes of the graph, the settings, the nodes and the applied state.
#[utoipa::path(
    get, path = "/api/v1/plans/{id}/changes", params(("id" = i64, Path)),
    responses((status = 200, body = ChangesView))
)]
pub(super) async fn plan_changes(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<ChangesView>> {
    let mut session = app.store.snapshot().await?;
    let record = require_plan(&mut session, &login, &path, "id").await?;
    let cluster = require_cluster(&mut session, &login, record.cluster_id).await?;
    drop(session);
    let (changes, _) = changes_since(&app.services.planning, cluster.id, &record).await?;
    Ok(ApiResponse::ok(ChangesView { is_current: changes.is_empty(), changes }))
}
