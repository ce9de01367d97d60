//! Runs of graphs, of sequences and of plans that were looked at before.

use std::collections::HashSet;

use axum::extract::State;
use axum::http::StatusCode;
use stoker_manifest::reader::{identifier, list_of};
use stoker_model::{ClusterId, RunName, SequenceId};
use stoker_planner::Subgraph;
use utoipa::ToSchema;
use stoker_services::planning;
use stoker_orchestrator::runs::{GraphRequest, Launch, launch, launch_as_seen, require_idle};

use super::read::{MannerBody, SubgraphBody, graph, run_options};
use crate::access::caller::Authenticated;
use crate::api::clusters::access::require_cluster;
use crate::api::plans::require_plan;
use crate::api::transactions::RunView;
use crate::http::answer::Answer;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::state::App;

#[derive(ToSchema)]
#[schema(as = GraphToRun)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
struct GraphBody {
    #[schema(rename = "type", example = "default")]
    r#type: String,
    /// Only on these nodes.
    #[schema(example = json!([1, 2]))]
    nodes: Option<Vec<i64>>,
    /// Only these tasks.
    #[schema(example = json!(["netconfig"]))]
    tasks: Option<Vec<String>>,
}

#[derive(ToSchema)]
#[schema(as = GraphsToRun)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
struct ExecuteBody {
    #[schema(example = 1)]
    cluster: i64,
    #[schema(min_items = 1)]
    graphs: Vec<GraphBody>,
    /// Plan, and run nothing.
    dry_run: Option<bool>,
    /// Let tasks say what they would do, and touch nothing.
    noop_run: Option<bool>,
    /// As if nothing had ever succeeded.
    force: Option<bool>,
    /// Executors say more.
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
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
struct SequenceBody {
    #[schema(example = 1)]
    cluster: i64,
    /// Plan, and run nothing.
    dry_run: Option<bool>,
    /// Let tasks say what they would do, and touch nothing.
    noop_run: Option<bool>,
    /// As if nothing had ever succeeded.
    force: Option<bool>,
    /// Executors say more.
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

/// How often a plan is looked at while others change things.
const APPLY_TRIES: usize = 10;
/// More of them in one run is a mistake.
const GRAPHS_MAX: usize = 100;

/// Run graphs on a cluster, one after the other
#[utoipa::path(
    post, path = "/api/v1/graphs/execute", request_body = ExecuteBody,
    responses(
        (status = 202, body = RunView),
        (status = 409, body = crate::http::error::Envelope, description = "Something runs on the cluster already"),
    )
)]
pub(super) async fn graphs_execute(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<Answer<RunView>> {
    let (cluster, graphs, run_options) = document.fields(|fields| {
        let cluster = fields.required("cluster", identifier);
        let graphs = fields.required("graphs", list_of(graph));
        let run_options = run_options(fields);
        Some((ClusterId(cluster?), graphs?, run_options))
    })?;
    if graphs.is_empty() || graphs.len() > GRAPHS_MAX {
        return Err(ApiError::bad_request(format!(
            "graphs: from 1 to {GRAPHS_MAX} graphs can be run at once"
        )));
    }
    start(&app, &login, cluster, Launch { graphs, run_options, name: RunName::Deploy }).await
}

/// Run the graphs of a sequence on a cluster
#[utoipa::path(
    post, path = "/api/v1/sequences/{id}/execute", params(("id" = i64, Path)), request_body = SequenceBody,
    responses(
        (status = 202, body = RunView),
        (status = 409, body = crate::http::error::Envelope, description = "Something runs on the cluster already"),
    )
)]
pub(super) async fn sequence_execute(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Document,
) -> ApiResult<Answer<RunView>> {
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
    let graphs = sequence.graphs.iter().map(of_sequence).collect();
    start(&app, &login, cluster_id, Launch { graphs, run_options, name: RunName::Deploy }).await
}

/// An entry of a sequence as a graph to be run.
pub(super) fn of_sequence(graph: &stoker_model::SequenceGraph) -> GraphRequest {
    GraphRequest {
        nodes: graph.nodes.as_ref().map(|ids| ids.iter().map(ToString::to_string).collect()),
        tasks: graph.tasks.clone(),
        ..GraphRequest::whole(graph.graph_type.clone())
    }
}

/// Run a plan as it is stored; refused when what it was made from is no longer so
#[utoipa::path(
    post, path = "/api/v1/plans/{id}/apply", params(("id" = i64, Path)), request_body = MannerBody,
    responses(
        (status = 202, body = RunView),
        (status = 409, body = crate::http::error::Envelope,
            description = "Something runs on the cluster already, or the plan is out of date: what changed is told"),
    )
)]
pub(super) async fn plan_apply(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Document,
) -> ApiResult<Answer<RunView>> {
    let run_options = document.fields(|fields| Some(run_options(fields)))?;
    if run_options.force || !run_options.subgraphs.is_empty() {
        let message = "a plan is run as it is: `force` and `subgraphs` are said when it is made";
        return Err(ApiError::bad_request(message));
    }
    let mut session = app.store.snapshot().await?;
    let plan = require_plan(&mut session, &login, &path, "id").await?;
    let cluster = require_cluster(&mut session, &login, plan.cluster_id).await?;
    // Whatever runs has changed something, which is not what is to be told.
    require_idle(&mut session, cluster.id).await?;
    drop(session);
    let graph = GraphRequest { plan: Some(plan.id), ..GraphRequest::whole(plan.graph_type.clone()) };
    let asked = Launch { graphs: vec![graph], run_options, name: RunName::Deploy };
    // What changes while it is looked is looked at, too: what was approved is what runs.
    for _ in 0..APPLY_TRIES {
        let (changed, seen) = planning::changes_since(&app.services.planning, cluster.id, &plan).await?;
        if !changed.is_empty() {
            let message = format!(
                "the plan is out of date, because these have changed since it was made: {}; make a new one",
                changed.join(", ")
            );
            return Err(ApiError::conflict(message));
        }
        if let Some(run) = launch_as_seen(&app.orchestrator, &login.actor(), cluster.id, &asked, seen).await? {
            let generation = run.generation;
            return Ok(Answer::accepted(RunView::from(run)).version(generation));
        }
    }
    Err(ApiError::conflict(
        "so much changes just now that nobody can say whether the plan is current; try again",
    ))
}

/// Checks what can be told at once, and starts.
pub(super) async fn start(
    app: &App,
    login: &Authenticated,
    cluster: ClusterId,
    asked: Launch,
) -> ApiResult<Answer<RunView>> {
    let mut session = app.store.snapshot().await?;
    let record = require_cluster(&mut session, login, cluster).await?;
    let mut tasks = HashSet::new();
    for graph in &asked.graphs {
        let wanted = graph.to_plan();
        tasks.extend(planning::check_request(&app.services.planning, &mut session, &record, &wanted).await?);
    }
    drop(session);
    check_ends(&asked.run_options.subgraphs, &tasks)?;
    let run = launch(&app.orchestrator, &login.actor(), cluster, asked).await?;
    let generation = run.generation;
    Ok(Answer::accepted(RunView::from(run)).version(generation))
}

/// A part of a graph begins and ends at tasks of it; a slip would otherwise run nothing, and succeed.
fn check_ends(subgraphs: &[Subgraph], tasks: &HashSet<String>) -> ApiResult<()> {
    let is_known = |reference: &str| {
        // Without the nodes that may follow the name, which may itself have a slash in it.
        let name = reference.rsplit_once('/').map_or(reference, |(name, _)| name);
        tasks.contains(reference) || tasks.contains(name)
    };
    let ends = subgraphs.iter().flat_map(|piece| piece.start.iter().chain(&piece.end));
    let unknown: Vec<&str> = ends.map(String::as_str).filter(|end| !is_known(end)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    Err(ApiError::bad_request(format!("Tasks {} are not present in deployment graph", unknown.join(","))))
}
