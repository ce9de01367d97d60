//! Operations that start runs: of graphs, of sequences and of plans.

use std::collections::HashSet;

use axum::extract::State;
use axum::http::StatusCode;
use stoker_api_types::execution::{ExecuteBody, RunOptionsBody, SequenceRunBody};
use stoker_api_types::transactions::RunView;
use stoker_model::{ClusterId, RunName, SequenceId};
use stoker_orchestrator::runs::{GraphRequest, Launch, launch, launch_as_seen, require_idle};
use stoker_planner::Subgraph;
use stoker_services::planning;

use super::read::{graph, run_options};
use crate::access::caller::Authenticated;
use crate::api::clusters::access::require_cluster;
use crate::api::plans::require_plan;
use crate::api::transactions::render_run;
use crate::http::answer::Answer;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::state::App;

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
        (status = 409, body = stoker_api_types::error::Envelope, description = "A run is active on the cluster"),
    )
)]
pub(super) async fn graphs_execute(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<Answer<RunView>> {
    let mut body: ExecuteBody = document.request()?;
    let run_options = run_options(body.take_options());
    let graphs: Vec<GraphRequest> = body.graphs.into_iter().map(graph).collect();
    if graphs.is_empty() || graphs.len() > GRAPHS_MAX {
        return Err(ApiError::bad_request(format!("graphs: must have from 1 to {GRAPHS_MAX} entries")));
    }
    start(&app, &login, ClusterId(body.cluster), Launch { graphs, run_options, name: RunName::Deploy }).await
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
) -> ApiResult<Answer<RunView>> {
    let id = path.id("id", SequenceId, "DeploymentSequence")?;
    let mut body: SequenceRunBody = document.request()?;
    let (cluster_id, run_options) = (ClusterId(body.cluster), run_options(body.take_options()));
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
        ..GraphRequest::whole(graph.graph_type.clone())
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
        (status = 409, body = stoker_api_types::error::Envelope,
            description = "A run is active on the cluster, or the plan is out of date; the message lists what has changed"),
    )
)]
pub(super) async fn plan_apply(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Document,
) -> ApiResult<Answer<RunView>> {
    let run_options = run_options(document.request()?);
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
    let graph = GraphRequest { plan: Some(plan.id), ..GraphRequest::whole(plan.graph_type.clone()) };
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
            launch_as_seen(&app.orchestrator, &login.actor(), cluster.id, &request, snapshot).await?
        {
            let generation = run.generation;
            return Ok(Answer::accepted(render_run(run)).version(generation));
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
) -> ApiResult<Answer<RunView>> {
    let mut session = app.store.snapshot().await?;
    let record = require_cluster(&mut session, login, cluster).await?;
    let mut tasks = HashSet::new();
    for graph in &request.graphs {
        let plan_request = graph.to_plan();
        tasks.extend(
            planning::check_request(&app.services.planning, &mut session, &record, &plan_request).await?,
        );
    }
    drop(session);
    check_endpoints(&request.run_options.subgraphs, &tasks)?;
    let run = launch(&app.orchestrator, &login.actor(), cluster, request).await?;
    let generation = run.generation;
    Ok(Answer::accepted(render_run(run)).version(generation))
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
