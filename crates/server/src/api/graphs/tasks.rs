//! `/graphs/{id}/tasks`: the tasks of a graph as rows.

use axum::extract::State;
use stoker_manifest::graph::{read_task_node, read_tasks_node};
use stoker_model::{Graph, GraphSource, JsonMap, StoredTask, Task, TaskId};
use stoker_store::Writing;
use stoker_services::graphs::{check_tasks, describe};

use super::access::require_graph;
use super::by_id::id;
use super::view::with_row;
use crate::access::caller::Authenticated;
use crate::http::answer::{Answer, NoContent};
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::{self, IfMatch};
use crate::http::path::PathParams;
use crate::state::App;

/// The tasks of a graph, each with the id of its row under `db_id`
#[utoipa::path(
    get, path = "/api/v1/graphs/{id}/tasks", params(("id" = i64, Path)),
    responses((status = 200, body = [Object]))
)]
pub(super) async fn graph_task_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<Answer<Vec<JsonMap>>> {
    let mut session = app.store.snapshot().await?;
    let graph = require_graph(&mut session, &login, id(&path)?).await?;
    Ok(rows(&graph))
}

/// Replace all tasks; a task that stays as it is keeps its row
#[utoipa::path(
    put, path = "/api/v1/graphs/{id}/tasks", params(("id" = i64, Path)), request_body = Vec<Object>,
    responses((status = 200, body = [Object]))
)]
pub(super) async fn graph_tasks_replace(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<Answer<Vec<JsonMap>>> {
    let tasks = document.read(|node, problems| read_tasks_node(node, document.text(), problems))?;
    let mut writing = app.change(&login).await?;
    let graph = require_graph(&mut writing, &login, id(&path)?).await?;
    condition.check(etag::of_graph(&graph))?;
    Ok(rows(&store(&app, writing, &graph, &tasks, "graph.update").await?))
}

/// One task, by the id of its row or by its name
#[utoipa::path(
    get, path = "/api/v1/graphs/{id}/tasks/{task}", params(("id" = i64, Path), ("task" = String, Path)),
    responses((status = 200, body = Object))
)]
pub(super) async fn graph_task_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<Answer<JsonMap>> {
    let mut session = app.store.snapshot().await?;
    let graph = require_graph(&mut session, &login, id(&path)?).await?;
    let stored = &graph.tasks[position(&graph, path.text("task"))?];
    Ok(Answer::ok(with_row(stored)).version(etag::of_graph(&graph)))
}

/// Put another task in the place of one; it gets a row of its own
#[utoipa::path(
    put, path = "/api/v1/graphs/{id}/tasks/{task}", params(("id" = i64, Path), ("task" = String, Path)),
    request_body = Object, responses((status = 200, body = Object))
)]
pub(super) async fn graph_task_update(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<Answer<JsonMap>> {
    let new = document.read(|node, problems| read_task_node(node, document.text(), problems))?;
    let mut writing = app.change(&login).await?;
    let graph = require_graph(&mut writing, &login, id(&path)?).await?;
    condition.check(etag::of_graph(&graph))?;
    let place = position(&graph, path.text("task"))?;
    let clash =
        graph.tasks.iter().enumerate().any(|(index, stored)| index != place && stored.task.name == new.name);
    if clash {
        return Err(ApiError::bad_request(format!("Tasks duplication found: {}", new.name)));
    }
    let mut tasks = definitions(&graph.tasks);
    tasks[place] = new;
    let graph = store(&app, writing, &graph, &tasks, "graph.task.update").await?;
    Ok(Answer::ok(with_row(&graph.tasks[place])).version(etag::of_graph(&graph)))
}

/// Take a task out of its graph
#[utoipa::path(
    delete, path = "/api/v1/graphs/{id}/tasks/{task}", params(("id" = i64, Path), ("task" = String, Path)),
    responses((status = 204))
)]
pub(super) async fn graph_task_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
) -> ApiResult<NoContent> {
    let mut writing = app.change(&login).await?;
    let graph = require_graph(&mut writing, &login, id(&path)?).await?;
    condition.check(etag::of_graph(&graph))?;
    let place = position(&graph, path.text("task"))?;
    let mut tasks = definitions(&graph.tasks);
    tasks.remove(place);
    store(&app, writing, &graph, &tasks, "graph.task.delete").await?;
    Ok(NoContent)
}

async fn store(
    app: &App,
    mut writing: Writing,
    graph: &Graph,
    tasks: &[Task],
    action: &'static str,
) -> ApiResult<Graph> {
    check_tasks(&app.services.graphs, tasks, &GraphSource::default())?;
    let graph = writing.graph_update(graph.id, graph.generation, &graph.metadata, Some(tasks)).await?;
    writing.commit(describe(action, &graph)).await?;
    Ok(graph)
}

/// Where a task is: by the id of its row, else by its name.
fn position(graph: &Graph, wanted: &str) -> ApiResult<usize> {
    let row = TaskId::parse(wanted);
    let by_row = graph.tasks.iter().position(|stored| Some(stored.id) == row);
    let by_name = || graph.tasks.iter().position(|stored| stored.task.name == wanted);
    by_row.or_else(by_name).ok_or_else(|| ApiError::not_found("DeploymentGraphTask"))
}

fn rows(graph: &Graph) -> Answer<Vec<JsonMap>> {
    Answer::ok(graph.tasks.iter().map(with_row).collect()).version(etag::of_graph(graph))
}

fn definitions(tasks: &[StoredTask]) -> Vec<Task> {
    tasks.iter().map(|stored| stored.task.clone()).collect()
}
