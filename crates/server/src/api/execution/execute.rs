//! Operations that start runs: of graphs, of sequences and of plans.

use axum::extract::State;
use stoker_api_types::execution::{ExecuteBody, RunOptionsBody, SequenceRunBody};
use stoker_api_types::transactions::RunView;
use stoker_model::{ClusterId, Run, RunName, SequenceId};
use stoker_orchestrator::runs::{Launch, apply_plan, start, start_sequence};
use stoker_services::runs::GraphRequest;

use super::read::{graph, run_options};
use crate::access::caller::Authenticated;
use crate::api::clusters::access::require_cluster;
use crate::api::plans::require_plan;
use crate::api::transactions::render_run;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
use crate::state::App;

/// Maximum number of graphs in one run; larger numbers are most likely a mistake.
const GRAPHS_MAX: usize = 100;

/// Run graphs on a cluster
///
/// Runs the graphs one after another.
#[utoipa::path(
    post, path = "/api/v1/graphs/execute", request_body = ExecuteBody,
    responses(
        (status = 202, body = RunView),
        (status = 409, body = stoker_api_types::error::Envelope, description = "A run is active on the cluster"),
    )
)]
pub(super) async fn graphs_execute(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<ApiResponse<RunView>> {
    let mut body: ExecuteBody = document.request()?;
    let run_options = run_options(body.take_options());
    let graphs: Vec<GraphRequest> = body.graphs.into_iter().map(graph).collect();
    if graphs.is_empty() || graphs.len() > GRAPHS_MAX {
        return Err(ApiError::bad_request(format!("graphs: must have from 1 to {GRAPHS_MAX} entries")));
    }
    let mut session = app.store.snapshot().await?;
    let cluster = require_cluster(&mut session, &login, ClusterId(body.cluster)).await?;
    drop(session);
    let launch = Launch { graphs, run_options, name: RunName::Deploy, leaving: Vec::new() };
    Ok(answer(start(&app.orchestrator, &login.actor(), &cluster, launch).await?))
}

/// Run a sequence on a cluster
///
/// Runs the graphs of the sequence one after another.
#[utoipa::path(
    post, path = "/api/v1/sequences/{id}/execute", params(("id" = i64, Path)), request_body = SequenceRunBody,
    responses(
        (status = 202, body = RunView),
        (status = 409, body = stoker_api_types::error::Envelope, description = "A run is active on the cluster"),
    )
)]
pub(super) async fn sequence_execute(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Document,
) -> ApiResult<ApiResponse<RunView>> {
    let id = path.id("id", SequenceId, "DeploymentSequence")?;
    let mut body: SequenceRunBody = document.request()?;
    let (cluster_id, run_options) = (ClusterId(body.cluster), run_options(body.take_options()));
    let mut session = app.store.snapshot().await?;
    let sequence =
        session.sequence_get(id).await?.ok_or_else(|| ApiError::not_found("DeploymentSequence"))?;
    let cluster = require_cluster(&mut session, &login, cluster_id).await?;
    drop(session);
    let run = start_sequence(&app.orchestrator, &login.actor(), &cluster, &sequence, run_options).await?;
    Ok(answer(run))
}

/// Apply a plan
///
/// Runs the plan as stored. The request is rejected if the inputs of the plan have changed since it was
/// created.
#[utoipa::path(
    post, path = "/api/v1/plans/{id}/apply", params(("id" = i64, Path)), request_body = RunOptionsBody,
    responses(
        (status = 202, body = RunView),
        (status = 409, body = stoker_api_types::error::Envelope,
            description = "A run is active on the cluster, or the plan is out of date; the message lists what has changed"),
    )
)]
pub(super) async fn plan_apply(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Document,
) -> ApiResult<ApiResponse<RunView>> {
    let run_options = run_options(document.request()?);
    let mut session = app.store.snapshot().await?;
    let plan = require_plan(&mut session, &login, &path, "id").await?;
    drop(session);
    Ok(answer(apply_plan(&app.orchestrator, &login.actor(), &plan, run_options).await?))
}

pub(super) fn answer(run: Run) -> ApiResponse<RunView> {
    let generation = run.generation;
    ApiResponse::accepted(render_run(run)).version(generation)
}
