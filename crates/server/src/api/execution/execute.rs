//! Operations that start runs: of graphs, of sequences and of plans.

use std::collections::HashSet;

use axum::extract::State;
use axum::http::StatusCode;
use stoker_manifest::reader::{identifier, list_of};
use stoker_model::{ClusterId, RunName, SequenceId};
use stoker_orchestrator::runs::{GraphRequest, Launch, launch, launch_if_unchanged, require_idle};
use stoker_planner::Subgraph;
use stoker_services::planning;
use utoipa::ToSchema;

use super::read::{RunOptionsBody, SubgraphBody, graph, run_options};
use crate::access::caller::Authenticated;
use crate::api::clusters::access::require_cluster;
use crate::api::plans::require_plan;
use crate::api::transactions::RunView;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
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

/// Maximum number of attempts to start a plan while concurrent changes to its inputs are committed.
const APPLY_ATTEMPTS: usize = 10;
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
    start(&app, &login, cluster, Launch { graphs, run_options, name: RunName::Deploy }).await
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
    if cluster.release_id != sequence.release_id {
        let message = format!("Sequence '{}' is not found for cluster {}", sequence.name, cluster.name);
        return Err(ApiError::new(StatusCode::NOT_FOUND, message));
    }
    drop(session);
    let graphs = sequence.graphs.iter().map(sequence_graph).collect();
    start(&app, &login, cluster_id, Launch { graphs, run_options, name: RunName::Deploy }).await
}

/// Converts an entry of a sequence into a graph request.
pub(super) fn sequence_graph(graph: &stoker_model::SequenceGraph) -> GraphRequest {
    GraphRequest {
        nodes: graph.nodes.as_ref().map(|ids| ids.iter().map(ToString::to_string).collect()),
        tasks: graph.tasks.clone(),
        ..GraphRequest::entire_graph(graph.graph_type.clone())
    }
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
    if run_options.force || !run_options.subgraphs.is_empty() {
        let message =
            "`force` and `subgraphs` cannot be set when a plan is applied; set them when the plan is created";
        return Err(ApiError::bad_request(message));
    }
    let mut session = app.store.snapshot().await?;
    let plan = require_plan(&mut session, &login, &path, "id").await?;
    let cluster = require_cluster(&mut session, &login, plan.cluster_id).await?;
    // An active run changes the inputs of the plan; report the run instead of those changes.
    require_idle(&mut session, cluster.id).await?;
    drop(session);
    let graph = GraphRequest { plan: Some(plan.id), ..GraphRequest::entire_graph(plan.graph_type.clone()) };
    let request = Launch { graphs: vec![graph], run_options, name: RunName::Deploy };
    // Optimistic concurrency: retry if the inputs change between the check and the start, so that only an
    // approved plan runs.
    for _ in 0..APPLY_ATTEMPTS {
        let (changed, snapshot) = planning::changes_since(&app.services.planning, cluster.id, &plan).await?;
        if !changed.is_empty() {
            let message = format!(
                "the plan is out of date: these have changed since it was created: {}; create a new plan",
                changed.join(", ")
            );
            return Err(ApiError::conflict(message));
        }
        if let Some(run) =
            launch_if_unchanged(&app.orchestrator, &login.actor(), cluster.id, &request, snapshot).await?
        {
            let generation = run.generation;
            return Ok(ApiResponse::accepted(RunView::from(run)).version(generation));
        }
    }
    Err(ApiError::conflict(
        "cannot check whether the plan is current because its inputs keep changing; try again",
    ))
}

/// Validates the request and starts the run.
pub(super) async fn start(
    app: &App,
    login: &Authenticated,
    cluster: ClusterId,
    request: Launch,
) -> ApiResult<ApiResponse<RunView>> {
    let mut session = app.store.snapshot().await?;
    let record = require_cluster(&mut session, login, cluster).await?;
    let mut tasks = HashSet::new();
    for graph in &request.graphs {
        let plan_request = graph.plan_request();
        tasks.extend(
            planning::check_request(&app.services.planning, &mut session, &record, &plan_request).await?,
        );
    }
    drop(session);
    check_endpoints(&request.run_options.subgraphs, &tasks)?;
    let run = launch(&app.orchestrator, &login.actor(), cluster, request).await?;
    let generation = run.generation;
    Ok(ApiResponse::accepted(RunView::from(run)).version(generation))
}

/// Requires subgraph endpoints to be tasks of the graphs: with a misspelled name, the run would execute
/// nothing and succeed.
fn check_endpoints(subgraphs: &[Subgraph], tasks: &HashSet<String>) -> ApiResult<()> {
    let is_known = |reference: &str| {
        // `task/nodes`: strip the nodes. Task names may contain slashes themselves.
        let name = reference.rsplit_once('/').map_or(reference, |(name, _)| name);
        tasks.contains(reference) || tasks.contains(name)
    };
    let endpoints = subgraphs.iter().flat_map(|subgraph| subgraph.start.iter().chain(&subgraph.end));
    let unknown: Vec<&str> = endpoints.map(String::as_str).filter(|endpoint| !is_known(endpoint)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    Err(ApiError::bad_request(format!("Tasks {} are not present in deployment graph", unknown.join(","))))
}
