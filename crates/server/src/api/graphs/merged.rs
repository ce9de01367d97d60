//! `/clusters/{id}/deployment_tasks/`: the tasks of a cluster, merged from its layers.

use axum::extract::State;
use stoker_graph::{Merged, merge};
use stoker_manifest::graph::{lines_of, read_tasks_node};
use stoker_manifest::task::render;
use stoker_model::{ClusterId, GraphSource, GraphType, JsonMap, Owner, OwnerKind};
use stoker_services::graphs::{Layers, Wanted, check_tasks, graph_tasks_replace};

use super::access::{require_cluster, require_owner};
use super::merged_view::MergedTasks;
use crate::access::caller::Authenticated;
use crate::http::answer::{Answer, Raw};
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::{self, IfMatch};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

/// Tasks of a cluster, merged from its release, itself and its plugins
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/deployment_tasks",
    params(
        ("id" = i64, Path),
        ("graph_type" = Option<String>, Query, description = "`default` if not given; `type` means the same"),
        ("layers" = Option<String>, Query, description = "Only these: any of release, cluster, plugins"),
        ("provenance" = Option<String>, Query,
            description = "1: each task has `provenance`, which says for each attribute which layer set it"),
        ("start" = Option<String>, Query, description = "Only these tasks and what comes after them"),
        ("end" = Option<String>, Query, description = "Only these tasks and what comes before them"),
        ("include" = Option<String>, Query, description = "These tasks too"),
    ),
    responses((status = 200, body = [Object]))
)]
pub(super) async fn cluster_task_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<Raw> {
    let wanted = query.list("layers").map_or(Ok(Wanted::ALL), |names| Wanted::parse(&names))?;
    show(&app, &login, &path, query, wanted).await
}

/// The tasks of the cluster's own layer
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/deployment_tasks/own",
    params(("id" = i64, Path), ("graph_type" = Option<String>, Query, description = "`default` if not given")),
    responses((status = 200, body = [Object]))
)]
pub(super) async fn cluster_task_list_own(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<Raw> {
    show(&app, &login, &path, query, Wanted::CLUSTER).await
}

/// The tasks of the enabled plugins
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/deployment_tasks/plugins",
    params(("id" = i64, Path), ("graph_type" = Option<String>, Query, description = "`default` if not given")),
    responses((status = 200, body = [Object]))
)]
pub(super) async fn cluster_task_list_plugins(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<Raw> {
    show(&app, &login, &path, query, Wanted::PLUGINS).await
}

/// The tasks of its release
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/deployment_tasks/release",
    params(("id" = i64, Path), ("graph_type" = Option<String>, Query, description = "`default` if not given")),
    responses((status = 200, body = [Object]))
)]
pub(super) async fn cluster_task_list_release(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<Raw> {
    show(&app, &login, &path, query, Wanted::RELEASE).await
}

async fn show(
    app: &App,
    login: &Authenticated,
    path: &PathParams,
    mut query: Query,
    wanted: Wanted,
) -> ApiResult<Raw> {
    let graph_type = wanted_type(&query)?;
    let with_provenance = query.boolean("provenance");
    let cut = Cut::read(&query);
    query.finish()?;
    let mut session = app.store.snapshot().await?;
    let cluster = require_cluster(&mut session, login, path.id("id", ClusterId, "Cluster")?).await?;
    let layers = Layers::read(&app.services.graphs, &mut session, &cluster, &graph_type, wanted).await?;
    drop(session);
    let layers_of = layers.layers();
    let mut merged = merge(&layers_of, layers.rules());
    cut.apply(&mut merged)?;
    Raw::json(&MergedTasks { merged: &merged, with_provenance })
}

/// Which part of the tasks is wanted.
struct Cut {
    start: Vec<String>,
    end: Vec<String>,
    include: Vec<String>,
}

impl Cut {
    fn read(query: &Query) -> Self {
        let names = |parameter| query.list(parameter).unwrap_or_default();
        Self { start: names("start"), end: names("end"), include: names("include") }
    }

    fn apply(&self, merged: &mut Merged<'_>) -> ApiResult<()> {
        if self.start.is_empty() && self.end.is_empty() && self.include.is_empty() {
            return Ok(());
        }
        let keep = stoker_graph::part(merged, &self.start, &self.end, &self.include).map_err(|unknown| {
            ApiError::bad_request(format!("Tasks {} are not present in deployment graph", unknown.join(", ")))
        })?;
        let mut index = 0..;
        merged.tasks.retain(|_| index.next().is_some_and(|index: usize| keep[index]));
        Ok(())
    }
}

/// `graph_type` or `default`.
pub(in crate::api) fn wanted_type(query: &Query) -> ApiResult<GraphType> {
    Ok(given_type(query)?.unwrap_or_default())
}

/// `graph_type`, which some call `type`; empty means not given.
pub(super) fn given_type(query: &Query) -> ApiResult<Option<GraphType>> {
    let name = match (query.text("graph_type"), query.text("type")) {
        (Some(one), Some(other)) if one != other => {
            return Err(ApiError::bad_request(
                "`type` and `graph_type` are the same parameter and differ here",
            ));
        }
        (one, other) => one.or(other),
    };
    name.map(|name| GraphType::new(name).map_err(|error| ApiError::bad_request(error.to_string())))
        .transpose()
}

/// Replace the tasks of the cluster's own graph, which is made if it is not there
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/deployment_tasks",
    params(
        ("id" = i64, Path),
        ("graph_type" = Option<String>, Query, description = "`default` if not given"),
        ("dry_run" = Option<String>, Query, description = "1: only judge them; nothing is stored"),
    ),
    request_body = Vec<Object>, responses((status = 200, body = [Object]))
)]
pub(super) async fn cluster_tasks_replace(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
    condition: IfMatch,
    document: Document,
) -> ApiResult<Answer<Vec<JsonMap>>> {
    replace(&app, &login, path.owner(OwnerKind::Cluster)?, query, &condition, &document).await
}

/// The tasks of a release
#[utoipa::path(
    get, path = "/api/v1/releases/{id}/deployment_tasks",
    params(("id" = i64, Path), ("graph_type" = Option<String>, Query, description = "`default` if not given")),
    responses((status = 200, body = [Object]))
)]
pub(super) async fn release_task_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<Answer<Vec<JsonMap>>> {
    let owner = path.owner(OwnerKind::Release)?;
    let graph_type = wanted_type(&query)?;
    let mut session = app.store.snapshot().await?;
    require_owner(&mut session, &login, owner).await?;
    let graph = session.graph_find(owner, &graph_type).await?;
    let tasks = graph.iter().flat_map(|graph| graph.tasks.iter());
    let answer = Answer::ok(tasks.map(|stored| render(&stored.task)).collect());
    Ok(match &graph {
        Some(graph) => answer.version(etag::of_graph(graph)),
        None => answer,
    })
}

/// Replace the tasks of a release's graph, which is made if it is not there
#[utoipa::path(
    put, path = "/api/v1/releases/{id}/deployment_tasks",
    params(
        ("id" = i64, Path),
        ("graph_type" = Option<String>, Query, description = "`default` if not given"),
        ("dry_run" = Option<String>, Query, description = "1: only judge them; nothing is stored"),
    ),
    request_body = Vec<Object>, responses((status = 200, body = [Object]))
)]
pub(super) async fn release_tasks_replace(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
    condition: IfMatch,
    document: Document,
) -> ApiResult<Answer<Vec<JsonMap>>> {
    replace(&app, &login, path.owner(OwnerKind::Release)?, query, &condition, &document).await
}

async fn replace(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    mut query: Query,
    condition: &IfMatch,
    document: &Document,
) -> ApiResult<Answer<Vec<JsonMap>>> {
    let graph_type = wanted_type(&query)?;
    let is_dry = query.boolean("dry_run");
    query.finish()?;
    let tasks = document.read(|node, problems| read_tasks_node(node, document.text(), problems))?;
    if is_dry {
        require_owner(&mut app.store.snapshot().await?, login, owner).await?;
        return Ok(Answer::ok(tasks.iter().map(render).collect()));
    }
    let source = GraphSource { file: None, lines: lines_of(document.node()) };
    check_tasks(&app.services.graphs, &tasks, &source)?;
    let mut writing = app.change(login).await?;
    require_owner(&mut writing, login, owner).await?;
    let graph = graph_tasks_replace(writing, owner, &graph_type, condition, (&tasks, &source)).await?;
    let shown = graph.tasks.iter().map(|stored| render(&stored.task)).collect();
    Ok(Answer::ok(shown).version(etag::of_graph(&graph)))
}
