//! Tasks of a graph as database rows: `/graphs/{id}/tasks`.

use axum::extract::State;
use stoker_api_types::graphs::GraphTaskView;
use stoker_manifest::graph::{read_task_node, read_tasks_node};
use stoker_model::{Graph, StoredTask, Task, TaskId};
use stoker_services::graphs::GraphKey;
use stoker_services::{ServiceError, ServiceResult};

use super::access::require_graph;
use super::by_id::id;
use crate::access::caller::Authenticated;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::{self, IfMatch};
use crate::http::path::PathParams;
use crate::http::response::{ApiResponse, NoContent};
use crate::state::App;

/// List the tasks of a graph
///
/// Each task has the ID of its row in `db_id`.
#[utoipa::path(
    get, path = "/api/v1/graphs/{id}/tasks", params(("id" = i64, Path)),
    responses((status = 200, body = [GraphTaskView]))
)]
pub(super) async fn graph_task_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<Vec<GraphTaskView>>> {
    let mut session = app.store.snapshot().await?;
    let graph = require_graph(&mut session, &login, id(&path)?).await?;
    Ok(rows(&graph))
}

/// Replace the tasks of a graph
///
/// Unchanged tasks keep their rows.
#[utoipa::path(
    put, path = "/api/v1/graphs/{id}/tasks", params(("id" = i64, Path)), request_body = Vec<Object>,
    responses((status = 200, body = [GraphTaskView]))
)]
pub(super) async fn graph_tasks_replace(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<ApiResponse<Vec<GraphTaskView>>> {
    let tasks = document.read(|node, problems| read_tasks_node(node, document.text(), problems))?;
    let edit = |_: &Graph| Ok(tasks.clone());
    Ok(rows(&edit_tasks(&app, &login, &path, &condition, "graph.update", edit).await?))
}

/// Retrieve a task of a graph
///
/// `task` is the ID of the row, or the name of the task.
#[utoipa::path(
    get, path = "/api/v1/graphs/{id}/tasks/{task}", params(("id" = i64, Path), ("task" = String, Path)),
    responses((status = 200, body = GraphTaskView))
)]
pub(super) async fn graph_task_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<GraphTaskView>> {
    let mut session = app.store.snapshot().await?;
    let graph = require_graph(&mut session, &login, id(&path)?).await?;
    let stored = &graph.tasks[position(&graph, path.text("task"))?];
    Ok(ApiResponse::ok(GraphTaskView::of_row(stored)).version(etag::of_graph(&graph)))
}

/// Update a task of a graph
///
/// Replaces the whole task, which gets a new row.
#[utoipa::path(
    put, path = "/api/v1/graphs/{id}/tasks/{task}", params(("id" = i64, Path), ("task" = String, Path)),
    request_body = Object, responses((status = 200, body = GraphTaskView))
)]
pub(super) async fn graph_task_update(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<ApiResponse<GraphTaskView>> {
    let new = document.read(|node, problems| read_task_node(node, document.text(), problems))?;
    let replace = |graph: &Graph| {
        let position = position(graph, path.text("task"))?;
        let mut others =
            graph.tasks.iter().enumerate().filter(|(index, _)| *index != position).map(|(_, other)| other);
        if others.any(|other| other.task.name == new.name) {
            return Err(ServiceError::invalid(format!("Tasks duplication found: {}", new.name)));
        }
        let mut tasks = definitions(&graph.tasks);
        tasks[position] = new.clone();
        Ok(tasks)
    };
    let graph = edit_tasks(&app, &login, &path, &condition, "graph.task.update", replace).await?;
    let stored = graph.tasks.iter().find(|stored| stored.task.name == new.name);
    let stored = stored.ok_or_else(|| ApiError::not_found("DeploymentGraphTask"))?;
    Ok(ApiResponse::ok(GraphTaskView::of_row(stored)).version(etag::of_graph(&graph)))
}

/// Delete a task of a graph
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
    let remove = |graph: &Graph| {
        let mut tasks = definitions(&graph.tasks);
        tasks.remove(position(graph, path.text("task"))?);
        Ok(tasks)
    };
    edit_tasks(&app, &login, &path, &condition, "graph.task.delete", remove).await?;
    Ok(NoContent)
}

async fn edit_tasks(
    app: &App,
    login: &Authenticated,
    path: &PathParams,
    condition: &IfMatch,
    action: &'static str,
    edit: impl Fn(&Graph) -> ServiceResult<Vec<Task>> + Send + Sync,
) -> ApiResult<Graph> {
    let (graphs, key) = (&app.services.graphs, GraphKey::Id(id(path)?));
    Ok(graphs.edit_tasks(&login.principal(), &key, condition, action, edit).await?)
}

/// Returns the index of a task, by the ID of its row or, if there is none, by its name.
fn position(graph: &Graph, reference: &str) -> ServiceResult<usize> {
    let row = TaskId::parse(reference);
    let by_row = graph.tasks.iter().position(|stored| Some(stored.id) == row);
    let by_name = || graph.tasks.iter().position(|stored| stored.task.name == reference);
    by_row.or_else(by_name).ok_or_else(|| ServiceError::not_found("DeploymentGraphTask"))
}

fn rows(graph: &Graph) -> ApiResponse<Vec<GraphTaskView>> {
    ApiResponse::ok(graph.tasks.iter().map(GraphTaskView::of_row).collect()).version(etag::of_graph(graph))
}

fn definitions(tasks: &[StoredTask]) -> Vec<Task> {
    tasks.iter().map(|stored| stored.task.clone()).collect()
}
