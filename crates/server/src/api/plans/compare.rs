//! Comparison of two plans.

use std::collections::BTreeSet;

use axum::extract::State;
use stoker_api_types::plans::ComparisonView;
use stoker_model::Json;
use stoker_planner::compare;
use stoker_services::planning::{PlanSecrets, StoredPlan};
use stoker_state::Secrets;

use super::access::require_plan;
use crate::access::caller::Authenticated;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::http::response::{ApiResponse, typed};
use crate::state::App;

/// Compare two plans
#[utoipa::path(
    get, path = "/api/v1/plans/{id}/compare/{other}", params(("id" = i64, Path), ("other" = i64, Path)),
    responses((status = 200, body = ComparisonView))
)]
pub(super) async fn plan_compare(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<ComparisonView>> {
    let mut session = app.store.snapshot().await?;
    let before = require_plan(&mut session, &login, &path, "id").await?;
    let after = require_plan(&mut session, &login, &path, "other").await?;
    let before = StoredPlan::read(&app.services.planning, &mut session, before).await?;
    let after = StoredPlan::read(&app.services.planning, &mut session, after).await?;
    let records = [before.record, after.record];
    let comparison = move || compare(&before.explained, &after.explained).to_json();
    let mut comparison = app.services.planning.plans.compute(comparison).await?;
    let nodes = nodes_in(&comparison);
    let mut secrets = Secrets::default();
    for record in &records {
        secrets = secrets.union(PlanSecrets::read(&mut session, record, &nodes).await?.union());
    }
    drop(session);
    let masked = app.services.planning.plans.compute(move || {
        secrets.mask(&mut comparison);
        comparison
    });
    Ok(ApiResponse::ok(typed(masked.await?)?))
}

/// Returns the nodes whose details occur in the comparison: only their secrets must be masked.
fn nodes_in(comparison: &Json) -> BTreeSet<String> {
    let changes = comparison["changes"].as_array().into_iter().flatten();
    let nodes = changes.filter_map(|change| change["nodes"].as_array()).flatten();
    nodes.filter_map(Json::as_str).map(str::to_owned).collect()
}
