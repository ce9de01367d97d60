//! Operations that start runs: of graphs, of sequences and of plans.

use axum::extract::State;
use stoker_manifest::reader::{identifier, list_of};
use stoker_model::{ClusterId, Run, RunName, SequenceId};
use stoker_orchestrator::runs::{Launch, apply_plan, start, start_sequence};
use utoipa::ToSchema;

use super::read::{RunOptionsBody, SubgraphBody, graph, run_options};
use crate::access::caller::Authenticated;
use crate::api::clusters::access::require_cluster;
use crate::api::plans::require_plan;
use crate::api::transactions::RunView;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
use crate::state::App;

#[derive(ToSchema)]
#[schema(as = GraphToRun)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
struct GraphBody {
    /// Type of the graph.
    #[schema(rename = "type", example = "default")]
    r#type: String,
    /// IDs of the nodes to run on (default: all nodes).
    #[schema(example = json!([1, 2]))]
    nodes: Option<Vec<i64>>,
    /// Names of the tasks to run (default: all tasks).
    #[schema(example = json!(["netconfig"]))]
    tasks: Option<Vec<String>>,
}

#[derive(ToSchema)]
#[schema(as = GraphsToRun)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
struct ExecuteBody {
    /// ID of the cluster.
    #[schema(example = 1)]
    cluster: i64,
    /// Graphs to run, in this order.
    #[schema(min_items = 1)]
    graphs: Vec<GraphBody>,
    /// Create the plan without executing it.
    dry_run: Option<bool>,
    /// Let agents report what tasks would do, without changing anything.
    noop_run: Option<bool>,
    /// Run all tasks regardless of previous successes.
    force: Option<bool>,
    /// Verbose output of task executors.
    debug: Option<bool>,
    subgraphs: Option<Vec<SubgraphBody>>,
    #[schema(example = "node_stops")]
    on_failure: Option<String>,
    #[schema(example = "pass")]
    at_stages: Option<String>,
    #[schema(example = "10%", pattern = "^[+-]?[0-9]{1,9}%?$")]
    fault_tolerance: Option<String>,
    #[schema(example = 50, minimum = 1)]
    nodes_at_once: Option<i64>,
    #[schema(example = 300, minimum = 1)]
    lost_after: Option<i64>,
}

#[derive(ToSchema)]
#[schema(as = SequenceToRun)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
struct SequenceBody {
    /// ID of the cluster.
    #[schema(example = 1)]
    cluster: i64,
    /// Create the plan without executing it.
    dry_run: Option<bool>,
    /// Let agents report what tasks would do, without changing anything.
    noop_run: Option<bool>,
    /// Run all tasks regardless of previous successes.
    force: Option<bool>,
    /// Verbose output of task executors.
    debug: Option<bool>,
    subgraphs: Option<Vec<SubgraphBody>>,
    #[schema(example = "node_stops")]
    on_failure: Option<String>,
    #[schema(example = "pass")]
    at_stages: Option<String>,
    #[schema(example = "10%", pattern = "^[+-]?[0-9]{1,9}%?$")]
    fault_tolerance: Option<String>,
    #[schema(example = 50, minimum = 1)]
    nodes_at_once: Option<i64>,
    #[schema(example = 300, minimum = 1)]
    lost_after: Option<i64>,
}

/// Maximum number of graphs in one run; larger numbers are most likely a mistake.
const GRAPHS_MAX: usize = 100;

/// Run graphs on a cluster
///
/// Runs the graphs one after another.
#[utoipa::path(
    post, path = "/api/v1/graphs/execute", request_body = ExecuteBody,
    responses(
        (status = 202, body = RunView),
        (status = 409, body = crate::http::error::Envelope, description = "A run is active on the cluster"),
    )
)]
pub(super) async fn graphs_execute(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<ApiResponse<RunView>> {
    let (cluster, graphs, run_options) = document.fields(|fields| {
        let cluster = fields.required("cluster", identifier);
        let graphs = fields.required("graphs", list_of(graph));
        let run_options = run_options(fields);
        Some((ClusterId(cluster?), graphs?, run_options))
    })?;
    if graphs.is_empty() || graphs.len() > GRAPHS_MAX {
        return Err(ApiError::bad_request(format!("graphs: must have from 1 to {GRAPHS_MAX} entries")));
    }
    let mut session = app.store.snapshot().await?;
    let cluster = require_cluster(&mut session, &login, cluster).await?;
    drop(session);
    let launch = Launch { graphs, run_options, name: RunName::Deploy };
    Ok(answer(start(&app.orchestrator, &login.actor(), &cluster, launch).await?))
}

/// Run a sequence on a cluster
///
/// Runs the graphs of the sequence one after another.
#[utoipa::path(
    post, path = "/api/v1/sequences/{id}/execute", params(("id" = i64, Path)), request_body = SequenceBody,
    responses(
        (status = 202, body = RunView),
        (status = 409, body = crate::http::error::Envelope, description = "A run is active on the cluster"),
    )
)]
pub(super) async fn sequence_execute(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Document,
) -> ApiResult<ApiResponse<RunView>> {
    let id = path.id("id", SequenceId, "DeploymentSequence")?;
    let (cluster_id, run_options) = document.fields(|fields| {
        let cluster = fields.required("cluster", identifier);
        let run_options = run_options(fields);
        Some((ClusterId(cluster?), run_options))
    })?;
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
        (status = 409, body = crate::http::error::Envelope,
            description = "A run is active on the cluster, or the plan is out of date; the message lists what has changed"),
    )
)]
pub(super) async fn plan_apply(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Document,
) -> ApiResult<ApiResponse<RunView>> {
    let run_options = document.fields(|fields| Some(run_options(fields)))?;
    let mut session = app.store.snapshot().await?;
    let plan = require_plan(&mut session, &login, &path, "id").await?;
    drop(session);
    Ok(answer(apply_plan(&app.orchestrator, &login.actor(), &plan, run_options).await?))
}

pub(super) fn answer(run: Run) -> ApiResponse<RunView> {
    let generation = run.generation;
    ApiResponse::accepted(RunView::from(run)).version(generation)
}
