//! Two plans side by side.

use std::collections::BTreeSet;

use axum::extract::State;
use stoker_model::Json;
use stoker_planner::compare;
use stoker_state::Secrets;
use utoipa::ToSchema;
use stoker_services::planning::{PlanSecrets, StoredPlan};

use super::access::require_plan;
use crate::access::caller::Authenticated;
use crate::http::answer::Answer;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::state::App;

/// What the other plan does that this one does not. Equal changes on many nodes are one.
#[derive(ToSchema)]
#[schema(as = PlanComparison)]
#[expect(dead_code, reason = "documentation of an answer that the planner writes")]
struct ComparisonView {
    /// `{task, nodes, change: gone|new|action|details, before, after, differences}` each.
    #[schema(value_type = Vec<Object>)]
    changes: Vec<Json>,
    /// `{n_edges, samples}`: what waits for what only in the other.
    #[schema(value_type = Object)]
    edges_added: Json,
    #[schema(value_type = Object)]
    edges_removed: Json,
    /// Fault tolerance groups that differ.
    #[schema(value_type = Vec<Object>)]
    groups: Vec<Json>,
}

/// Compare a plan with another one
#[utoipa::path(
    get, path = "/api/v1/plans/{id}/compare/{other}", params(("id" = i64, Path), ("other" = i64, Path)),
    responses((status = 200, body = ComparisonView))
)]
pub(super) async fn plan_compare(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<Answer<Json>> {
    let mut session = app.store.snapshot().await?;
    let before = require_plan(&mut session, &login, &path, "id").await?;
    let after = require_plan(&mut session, &login, &path, "other").await?;
    let before = StoredPlan::read(&app.services.planning, &mut session, before).await?;
    let after = StoredPlan::read(&app.services.planning, &mut session, after).await?;
    let records = [before.record, after.record];
    let made = move || compare(&before.explained, &after.explained).to_json();
    let mut compared = app.services.planning.plans.compute(made).await?;
    let nodes = nodes_in(&compared);
    let mut secrets = Secrets::default();
    for record in &records {
        secrets = secrets.with(PlanSecrets::read(&mut session, record, &nodes).await?.together());
    }
    drop(session);
    let masked = app.services.planning.plans.compute(move || {
        secrets.mask(&mut compared);
        compared
    });
    Ok(Answer::ok(masked.await?))
}

/// The nodes of which details are told.
fn nodes_in(compared: &Json) -> BTreeSet<String> {
    let changes = compared["changes"].as_array().into_iter().flatten();
    let nodes = changes.filter_map(|change| change["nodes"].as_array()).flatten();
    nodes.filter_map(Json::as_str).map(str::to_owned).collect()
}
