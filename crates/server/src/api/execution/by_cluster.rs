//! Runs as older clients ask for them: by cluster, with what is wanted in the query.

use std::collections::BTreeSet;

use axum::extract::State;
use stoker_manifest::reader::{list_of, string_of};
use stoker_model::{ClusterId, GraphType, NodeId, RunName};
use stoker_store::{List, NodeFilter, SequenceFilter};
use stoker_orchestrator::runs::{GraphRequest, Launch, RunOptions};

use super::execute::{of_sequence, start};
use super::read::{FromQuery, from_query};
use crate::access::caller::Authenticated;
use crate::api::clusters::access::require_cluster;
use crate::api::transactions::RunView;
use crate::http::answer::Answer;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

/// The sequence of a release that is run to bring changes about.
const DEPLOY_CHANGES: &str = "deploy-changes";
const PROVISION: &str = "provision";
const SPAWN_VMS: &str = "spawn_vms";

/// Run one graph, `default` if no other is named
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/deploy",
    params(
        ("id" = i64, Path),
        ("graph_type" = Option<String>, Query, description = "`type` means the same"),
        ("nodes" = Option<String>, Query, description = "Only on these nodes, comma-separated"),
        ("dry_run" = Option<String>, Query, description = "1: plan, and run nothing"),
        ("noop_run" = Option<String>, Query, description = "1: let tasks say what they would do"),
        ("force" = Option<String>, Query, description = "1: as if nothing had ever succeeded"),
        ("debug" = Option<String>, Query, description = "1: executors say more"),
    ),
    responses((status = 202, body = RunView), (status = 409, body = crate::http::error::Envelope))
)]
pub(super) async fn cluster_deploy(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<Answer<RunView>> {
    let id = path.id("id", ClusterId, "Cluster")?;
    let FromQuery { graph_type, nodes, run_options } = from_query(query)?;
    let graph = GraphRequest { nodes, ..GraphRequest::whole(graph_type.unwrap_or_default()) };
    start_one(&app, &login, id, graph, run_options, RunName::Deploy).await
}

/// Run some tasks of one graph
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/deploy_tasks", request_body = Vec<String>,
    params(
        ("id" = i64, Path),
        ("graph_type" = Option<String>, Query, description = "`type` means the same"),
        ("nodes" = Option<String>, Query, description = "Only on these nodes, comma-separated"),
        ("dry_run" = Option<String>, Query, description = "1: plan, and run nothing"),
        ("noop_run" = Option<String>, Query, description = "1: let tasks say what they would do"),
        ("force" = Option<String>, Query, description = "1: as if nothing had ever succeeded"),
    ),
    responses((status = 202, body = RunView), (status = 409, body = crate::http::error::Envelope))
)]
pub(super) async fn cluster_deploy_tasks(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
    document: Document,
) -> ApiResult<Answer<RunView>> {
    let id = path.id("id", ClusterId, "Cluster")?;
    let FromQuery { graph_type, nodes, run_options } = from_query(query)?;
    let tasks = document.read(list_of(string_of(1..=255)))?;
    if tasks.is_empty() {
        return Err(ApiError::bad_request("Tasks list must be specified."));
    }
    let graph =
        GraphRequest { nodes, tasks: Some(tasks), ..GraphRequest::whole(graph_type.unwrap_or_default()) };
    start_one(&app, &login, id, graph, run_options, RunName::Deploy).await
}

/// Bring about what has changed: the sequence `deploy-changes` of the release, else the graph `default`
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/changes",
    params(
        ("id" = i64, Path),
        ("graph_type" = Option<String>, Query, description = "Where the release has no such sequence"),
        ("nodes" = Option<String>, Query, description = "Only on these nodes, comma-separated"),
        ("dry_run" = Option<String>, Query, description = "1: plan, and run nothing"),
        ("noop_run" = Option<String>, Query, description = "1: let tasks say what they would do"),
    ),
    responses((status = 202, body = RunView), (status = 409, body = crate::http::error::Envelope))
)]
pub(super) async fn cluster_changes(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<Answer<RunView>> {
    let id = path.id("id", ClusterId, "Cluster")?;
    let asked = from_query(query)?;
    changes(&app, &login, id, asked).await
}

/// The same as if nothing had ever succeeded
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/changes/redeploy",
    params(
        ("id" = i64, Path),
        ("graph_type" = Option<String>, Query, description = "Where the release has no such sequence"),
        ("nodes" = Option<String>, Query, description = "Only on these nodes, comma-separated"),
        ("dry_run" = Option<String>, Query, description = "1: plan, and run nothing"),
        ("noop_run" = Option<String>, Query, description = "1: let tasks say what they would do"),
    ),
    responses((status = 202, body = RunView), (status = 409, body = crate::http::error::Envelope))
)]
pub(super) async fn cluster_redeploy(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<Answer<RunView>> {
    let id = path.id("id", ClusterId, "Cluster")?;
    let asked = from_query(query)?;
    changes(&app, &login, id, FromQuery { run_options: RunOptions { force: true, ..asked.run_options.clone() }, ..asked })
        .await
}

async fn changes(
    app: &App,
    login: &Authenticated,
    id: ClusterId,
    asked: FromQuery,
) -> ApiResult<Answer<RunView>> {
    let mut session = app.store.snapshot().await?;
    let cluster = require_cluster(&mut session, login, id).await?;
    let filter = SequenceFilter { release_id: Some(cluster.release_id) };
    let sequences = session.sequence_list(&filter, &List::default()).await?.items;
    drop(session);
    let graphs = match sequences.iter().find(|sequence| sequence.name == DEPLOY_CHANGES) {
        Some(sequence) => {
            let graphs = sequence.graphs.iter().map(of_sequence);
            graphs.map(|graph| narrowed(graph, asked.nodes.as_deref())).collect()
        }
        None => vec![GraphRequest {
            nodes: asked.nodes,
            ..GraphRequest::whole(asked.graph_type.unwrap_or_default())
        }],
    };
    start(app, login, id, Launch { graphs, run_options: asked.run_options, name: RunName::Deploy }).await
}

/// Only on those of its nodes that are asked for.
fn narrowed(mut graph: GraphRequest, asked: Option<&[String]>) -> GraphRequest {
    if let Some(asked) = asked {
        graph.nodes = Some(match graph.nodes {
            Some(own) => own.into_iter().filter(|uid| asked.contains(uid)).collect(),
            None => asked.to_vec(),
        });
    }
    graph
}

/// Run the graph `provision`
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/provision",
    params(
        ("id" = i64, Path),
        ("nodes" = Option<String>, Query, description = "Only on these nodes, comma-separated"),
    ),
    responses((status = 202, body = RunView), (status = 409, body = crate::http::error::Envelope))
)]
pub(super) async fn cluster_provision(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<Answer<RunView>> {
    start_named(&app, &login, &path, query, (PROVISION, RunName::Provision)).await
}

/// Run the graph `spawn_vms`: what makes virtual machines is tasks, as everything else
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/spawn_vms",
    params(
        ("id" = i64, Path),
        ("nodes" = Option<String>, Query, description = "Only on these nodes, comma-separated"),
    ),
    responses((status = 202, body = RunView), (status = 409, body = crate::http::error::Envelope))
)]
pub(super) async fn cluster_spawn_vms(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<Answer<RunView>> {
    start_named(&app, &login, &path, query, (SPAWN_VMS, RunName::SpawnVms)).await
}

/// A graph whose type says what it is for.
async fn start_named(
    app: &App,
    login: &Authenticated,
    path: &PathParams,
    query: Query,
    (graph_type, name): (&str, RunName),
) -> ApiResult<Answer<RunView>> {
    let id = path.id("id", ClusterId, "Cluster")?;
    let FromQuery { nodes, run_options, .. } = from_query(query)?;
    let graph_type = GraphType::new(graph_type).unwrap_or_default();
    let graph = GraphRequest { nodes, ..GraphRequest::whole(graph_type) };
    start_one(app, login, id, graph, run_options, name).await
}

/// Nodes that are nowhere are not found; those of another cluster are refused where everything else is checked.
async fn start_one(
    app: &App,
    login: &Authenticated,
    id: ClusterId,
    graph: GraphRequest,
    run_options: RunOptions,
    name: RunName,
) -> ApiResult<Answer<RunView>> {
    if let Some(nodes) = &graph.nodes {
        let mut session = app.store.snapshot().await?;
        require_cluster(&mut session, login, id).await?;
        let ids: BTreeSet<NodeId> = nodes.iter().filter_map(|node| NodeId::parse(node)).collect();
        let filter = NodeFilter { ids: Some(ids.iter().copied().collect()), ..NodeFilter::default() };
        if session.node_list(&filter, &List::default()).await?.items.len() < ids.len() {
            return Err(ApiError::not_found("NodeCollection"));
        }
    }
    start(app, login, id, Launch { graphs: vec![graph], run_options, name }).await
}
