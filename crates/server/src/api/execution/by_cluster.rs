//! Fuel-compatible operations that start runs: by cluster, with options in the query.

use axum::extract::State;
use stoker_api_types::execution::{ClusterRunBody, FixedGraphRunBody};
use stoker_api_types::transactions::RunView;
use stoker_manifest::reader::{list_of, string_with_length};
use stoker_model::{ClusterId, GraphType, RunName};
use stoker_orchestrator::runs::{GraphSelection, start_changes, start_one};
use stoker_services::runs::{GraphRequest, RunOptions};

use super::execute::answer;
use super::read::{LimitQuery, RunQuery, RunRequest, read_fixed_run, read_query, read_run};
use crate::access::caller::Authenticated;
use crate::api::clusters::access::require_cluster;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

const PROVISION: &str = "provision";
const SPAWN_VMS: &str = "spawn_vms";

/// Run a graph on a cluster
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/deploy", request_body = Option<ClusterRunBody>,
    params(
        ("id" = i64, Path),
        ("graph_type" = Option<String>, Query, description = "Graph type (default: `default`); alias: `type`"),
        RunQuery, LimitQuery,
    ),
    responses((status = 202, body = RunView), (status = 409, body = stoker_api_types::error::Envelope))
)]
pub(super) async fn cluster_deploy(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
    document: Option<Document>,
) -> ApiResult<ApiResponse<RunView>> {
    let id = path.id("id", ClusterId, "Cluster")?;
    let RunRequest { graph_type, nodes, run_options } = read_run(query, document.as_ref())?;
    let graph = GraphRequest { nodes, ..GraphRequest::entire_graph(graph_type.unwrap_or_default()) };
    run_one(&app, &login, id, graph, run_options, RunName::Deploy).await
}

/// Run tasks of a graph on a cluster
///
/// The request body is the list of task names.
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/deploy_tasks", request_body = Vec<String>,
    params(
        ("id" = i64, Path),
        ("graph_type" = Option<String>, Query, description = "Graph type (default: `default`); alias: `type`"),
        RunQuery, LimitQuery,
    ),
    responses((status = 202, body = RunView), (status = 409, body = stoker_api_types::error::Envelope))
)]
pub(super) async fn cluster_deploy_tasks(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
    document: Document,
) -> ApiResult<ApiResponse<RunView>> {
    let id = path.id("id", ClusterId, "Cluster")?;
    let RunRequest { graph_type, nodes, run_options } = read_query(query)?;
    let tasks = document.read(list_of(string_with_length(1..=255)))?;
    if tasks.is_empty() {
        return Err(ApiError::bad_request("Tasks list must be specified."));
    }
    let graph = GraphRequest {
        nodes,
        tasks: Some(tasks),
        ..GraphRequest::entire_graph(graph_type.unwrap_or_default())
    };
    run_one(&app, &login, id, graph, run_options, RunName::Deploy).await
}

/// Deploy changes to a cluster
///
/// Runs the sequence `deploy-changes` of the release or, if it does not exist, one graph.
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/changes", request_body = Option<ClusterRunBody>,
    params(
        ("id" = i64, Path),
        ("graph_type" = Option<String>, Query, description = "Graph type to run if the release has no sequence `deploy-changes` (default: `default`)"),
        RunQuery, LimitQuery,
    ),
    responses((status = 202, body = RunView), (status = 409, body = stoker_api_types::error::Envelope))
)]
pub(super) async fn cluster_changes(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
    document: Option<Document>,
) -> ApiResult<ApiResponse<RunView>> {
    let id = path.id("id", ClusterId, "Cluster")?;
    let request = read_run(query, document.as_ref())?;
    changes(&app, &login, id, request).await
}

/// Redeploy a cluster
///
/// Same as deploying changes, but runs all tasks regardless of previous successes.
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/changes/redeploy", request_body = Option<ClusterRunBody>,
    params(
        ("id" = i64, Path),
        ("graph_type" = Option<String>, Query, description = "Graph type to run if the release has no sequence `deploy-changes` (default: `default`)"),
        RunQuery, LimitQuery,
    ),
    responses((status = 202, body = RunView), (status = 409, body = stoker_api_types::error::Envelope))
)]
pub(super) async fn cluster_redeploy(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
    document: Option<Document>,
) -> ApiResult<ApiResponse<RunView>> {
    let id = path.id("id", ClusterId, "Cluster")?;
    let request = read_run(query, document.as_ref())?;
    changes(
        &app,
        &login,
        id,
        RunRequest { run_options: RunOptions { force: true, ..request.run_options.clone() }, ..request },
    )
    .await
}

async fn changes(
    app: &App,
    login: &Authenticated,
    id: ClusterId,
    request: RunRequest,
) -> ApiResult<ApiResponse<RunView>> {
    let mut session = app.store.snapshot().await?;
    let cluster = require_cluster(&mut session, login, id).await?;
    drop(session);
    let RunRequest { graph_type, nodes, run_options } = request;
    let selection = GraphSelection { graph_type, nodes };
    Ok(answer(start_changes(&app.orchestrator, &login.actor(), &cluster, selection, run_options).await?))
}

/// Provision a cluster
///
/// Runs the graph `provision`.
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/provision", request_body = Option<FixedGraphRunBody>,
    params(
        ("id" = i64, Path), RunQuery,
    ),
    responses((status = 202, body = RunView), (status = 409, body = stoker_api_types::error::Envelope))
)]
pub(super) async fn cluster_provision(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
    document: Option<Document>,
) -> ApiResult<ApiResponse<RunView>> {
    start_named(&app, &login, &path, (query, document), PROVISION, RunName::Provision).await
}

/// Create virtual machines for a cluster
///
/// Runs the graph `spawn_vms`.
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/spawn_vms", request_body = Option<FixedGraphRunBody>,
    params(
        ("id" = i64, Path), RunQuery,
    ),
    responses((status = 202, body = RunView), (status = 409, body = stoker_api_types::error::Envelope))
)]
pub(super) async fn cluster_spawn_vms(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
    document: Option<Document>,
) -> ApiResult<ApiResponse<RunView>> {
    start_named(&app, &login, &path, (query, document), SPAWN_VMS, RunName::SpawnVms).await
}

/// Starts a run of the graph of a fixed type.
async fn start_named(
    app: &App,
    login: &Authenticated,
    path: &PathParams,
    (query, document): (Query, Option<Document>),
    graph_type: &str,
    name: RunName,
) -> ApiResult<ApiResponse<RunView>> {
    let id = path.id("id", ClusterId, "Cluster")?;
    let RunRequest { nodes, run_options, .. } = read_fixed_run(query, document.as_ref())?;
    let graph_type = GraphType::new(graph_type).unwrap_or_default();
    let graph = GraphRequest { nodes, ..GraphRequest::entire_graph(graph_type) };
    run_one(app, login, id, graph, run_options, name).await
}

/// Starts a run of one graph.
async fn run_one(
    app: &App,
    login: &Authenticated,
    id: ClusterId,
    graph: GraphRequest,
    run_options: RunOptions,
    name: RunName,
) -> ApiResult<ApiResponse<RunView>> {
    let mut session = app.store.snapshot().await?;
    let cluster = require_cluster(&mut session, login, id).await?;
    drop(session);
    let run = start_one(&app.orchestrator, &login.actor(), &cluster, graph, run_options, name).await?;
    Ok(answer(run))
}
