//! Visibility of plans: a caller sees the plans of the clusters that it may see.

use stoker_model::{PlanId, PlanRecord};
use stoker_services::planning::StoredPlan;
use stoker_store::Session;

use crate::access::caller::Authenticated;
use crate::api::clusters::access::find_cluster;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::state::App;

pub(in crate::api) async fn require_plan(
    session: &mut Session,
    login: &Authenticated,
    path: &PathParams,
    name: &str,
) -> ApiResult<PlanRecord> {
    let not_found = || ApiError::not_found("Plan");
    let id = path.id(name, PlanId, "Plan")?;
    let record = session.plan_get(id).await?.ok_or_else(not_found)?;
    find_cluster(session, login, record.cluster_id).await?.ok_or_else(not_found)?;
    Ok(record)
}

/// Loads the plan of a path `/plans/{id}/…`, with its contents.
pub(super) async fn read_plan(app: &App, login: &Authenticated, path: &PathParams) -> ApiResult<StoredPlan> {
    let mut session = app.store.snapshot().await?;
    let record = require_plan(&mut session, login, path, "id").await?;
    Ok(StoredPlan::read(&app.services.planning, &mut session, record).await?)
}
