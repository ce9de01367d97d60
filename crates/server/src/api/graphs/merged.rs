//! Tasks of a cluster merged from its layers, and tasks of a release: `deployment_tasks`.

use axum::extract::State;
use stoker_api_types::graphs::GraphTaskView;
use stoker_graph::{MergedGraph, merge};
use stoker_manifest::graph::{read_tasks_node, task_lines};
use stoker_model::{ClusterId, ErrorChain, GraphSource, GraphType, Owner, OwnerKind};
use stoker_services::graphs::{LayerFilter, Layers};

use super::access::{require_cluster, require_owner};
use super::merged_view::MergedTasks;
use crate::access::caller::Authenticated;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::{self, IfMatch};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::{ApiResponse, Raw};
use crate::state::App;

/// List the merged tasks of a cluster
///
/// Returns the tasks merged from the release, the cluster and its enabled plugins.
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/deployment_tasks",
    params(
        ("id" = i64, Path),
        ("graph_type" = Option<String>, Query, description = "Graph type (default: `default`); alias: `type`"),
        ("layers" = Option<String>, Query, description = "Layers to merge, comma-separated: `release`, `cluster`, `plugins` (default: all)"),
        ("provenance" = Option<String>, Query,
            description = "`1` to add `provenance` to each task: the layer that set each attribute"),
        ("start" = Option<String>, Query, description = "Restricts the result to these tasks and their successors, comma-separated"),
        ("end" = Option<String>, Query, description = "Restricts the result to these tasks and their predecessors, comma-separated"),
        ("include" = Option<String>, Query, description = "Additional tasks to return, comma-separated"),
    ),
    responses((status = 200, body = [GraphTaskView]))
)]
pub(super) async fn cluster_task_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<Raw> {
    let layer_filter =
        query.list("layers").map_or(Ok(LayerFilter::ALL), |names| LayerFilter::parse(&names))?;
    show(&app, &login, &path, query, layer_filter).await
}

/// Declares the list of the tasks of one layer of a cluster.
macro_rules! layer_task_list {
    ($name:ident, $layer:expr, $path:tt, $summary:tt, $description:tt) => {
        #[utoipa::path(
            get, path = $path, summary = $summary, description = $description,
            params(
                ("id" = i64, Path),
                ("graph_type" = Option<String>, Query, description = "Graph type (default: `default`)"),
            ),
            responses((status = 200, body = [GraphTaskView]))
        )]
        pub(super) async fn $name(
            State(app): State<App>,
            login: Authenticated,
            path: PathParams,
            query: Query,
        ) -> ApiResult<Raw> {
            show(&app, &login, &path, query, $layer).await
        }
    };
}

layer_task_list!(
    cluster_task_list_own,
    LayerFilter::CLUSTER,
    "/api/v1/clusters/{id}/deployment_tasks/own",
    "List the tasks of a cluster's own graph",
    "Returns the tasks of the cluster layer, without those of the release and the plugins."
);
layer_task_list!(
    cluster_task_list_plugins,
    LayerFilter::PLUGINS,
    "/api/v1/clusters/{id}/deployment_tasks/plugins",
    "List the tasks of a cluster's plugins",
    "Returns the merged tasks of the enabled plugins."
);
layer_task_list!(
    cluster_task_list_release,
    LayerFilter::RELEASE,
    "/api/v1/clusters/{id}/deployment_tasks/release",
    "List the tasks of a cluster's release",
    "Returns the tasks of the release layer."
);

async fn show(
    app: &App,
    login: &Authenticated,
    path: &PathParams,
    mut query: Query,
    layer_filter: LayerFilter,
) -> ApiResult<Raw> {
    let graph_type = requested_graph_type(&query)?;
    let with_provenance = query.boolean("provenance");
    let selection = TaskSelection::read(&query);
    query.finish()?;
    let mut session = app.store.snapshot().await?;
    let cluster = require_cluster(&mut session, login, path.id("id", ClusterId, "Cluster")?).await?;
    let layers =
        Layers::read(&app.services.graphs, &mut session, &cluster, &graph_type, layer_filter).await?;
    drop(session);
    let layer_views = layers.layers();
    let mut merged = merge(&layer_views, layers.rules());
    selection.apply(&mut merged)?;
    Raw::json(&MergedTasks { merged: &merged, with_provenance })
}

/// Part of the merged tasks to return.
struct TaskSelection {
    start: Vec<String>,
    end: Vec<String>,
    include: Vec<String>,
}

impl TaskSelection {
    fn read(query: &Query) -> Self {
        let names = |parameter| query.list(parameter).unwrap_or_default();
        Self { start: names("start"), end: names("end"), include: names("include") }
    }

    fn apply(&self, merged: &mut MergedGraph<'_>) -> ApiResult<()> {
        if self.start.is_empty() && self.end.is_empty() && self.include.is_empty() {
            return Ok(());
        }
        let is_selected =
            stoker_graph::part(merged, &self.start, &self.end, &self.include).map_err(|unknown| {
                ApiError::bad_request(format!(
                    "Tasks {} are not present in deployment graph",
                    unknown.join(", ")
                ))
            })?;
        let mut index = 0..;
        merged.tasks.retain(|_| index.next().is_some_and(|index: usize| is_selected[index]));
        Ok(())
    }
}

/// Reads the graph type from the query (default: `default`).
pub(in crate::api) fn requested_graph_type(query: &Query) -> ApiResult<GraphType> {
    Ok(read_graph_type(query)?.unwrap_or_default())
}

/// Reads `graph_type` or its alias `type` from the query. An empty value is treated as omitted.
pub(super) fn read_graph_type(query: &Query) -> ApiResult<Option<GraphType>> {
    let name = match (query.text("graph_type"), query.text("type")) {
        (Some(graph_type), Some(alias)) if graph_type != alias => {
            return Err(ApiError::bad_request(
                "`graph_type` and its alias `type` differ; set only one of them",
            ));
        }
        (graph_type, alias) => graph_type.or(alias),
    };
    name.map(|name| {
        GraphType::new(name).map_err(|error| ApiError::bad_request(ErrorChain(&error).to_string()))
    })
    .transpose()
}

/// List the tasks of a release
#[utoipa::path(
    get, path = "/api/v1/releases/{id}/deployment_tasks",
    params(("id" = i64, Path), ("graph_type" = Option<String>, Query, description = "Graph type (default: `default`)")),
    responses((status = 200, body = [GraphTaskView]))
)]
pub(super) async fn release_task_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<ApiResponse<Vec<GraphTaskView>>> {
    let owner = path.owner(OwnerKind::Release)?;
    let graph_type = requested_graph_type(&query)?;
    let mut session = app.store.snapshot().await?;
    require_owner(&mut session, &login, owner).await?;
    let graph = session.graph_find(owner, &graph_type).await?;
    let tasks = graph.iter().flat_map(|graph| graph.tasks.iter());
    let answer = ApiResponse::ok(tasks.map(|task| GraphTaskView::of(&task.task)).collect());
    Ok(match &graph {
        Some(graph) => answer.version(etag::of_graph(graph)),
        None => answer,
    })
}

/// Declares the replacement of the tasks of an owner.
macro_rules! tasks_replace {
    ($name:ident, $owner:expr, $path:tt, $summary:tt) => {
        #[utoipa::path(
            put, path = $path, summary = $summary, description = "Creates the graph if it does not exist.",
            params(
                ("id" = i64, Path),
                ("graph_type" = Option<String>, Query, description = "Graph type (default: `default`)"),
                ("dry_run" = Option<String>, Query, description = "`1` to validate the tasks without storing them"),
            ),
            request_body = Vec<Object>, responses((status = 200, body = [GraphTaskView]))
        )]
        pub(super) async fn $name(
            State(app): State<App>,
            login: Authenticated,
            path: PathParams,
            query: Query,
            condition: IfMatch,
            document: Document,
        ) -> ApiResult<ApiResponse<Vec<GraphTaskView>>> {
            replace(&app, &login, path.owner($owner)?, query, &condition, &document).await
        }
    };
}

tasks_replace!(
    cluster_tasks_replace,
    OwnerKind::Cluster,
    "/api/v1/clusters/{id}/deployment_tasks",
    "Replace the tasks of a cluster's own graph"
);
tasks_replace!(
    release_tasks_replace,
    OwnerKind::Release,
    "/api/v1/releases/{id}/deployment_tasks",
    "Replace the tasks of a release"
);

async fn replace(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    mut query: Query,
    condition: &IfMatch,
    document: &Document,
) -> ApiResult<ApiResponse<Vec<GraphTaskView>>> {
    let graph_type = requested_graph_type(&query)?;
    let dry_run = query.boolean("dry_run");
    query.finish()?;
    let tasks = document.read(|node, problems| read_tasks_node(node, document.text(), problems))?;
    if dry_run {
        require_owner(&mut app.store.snapshot().await?, login, owner).await?;
        return Ok(ApiResponse::ok(tasks.iter().map(GraphTaskView::of).collect()));
    }
    let source = GraphSource { file: None, lines: task_lines(document.node()) };
    let (graphs, principal) = (&app.services.graphs, login.principal());
    let graph = graphs.replace_tasks(&principal, owner, &graph_type, condition, &tasks, &source).await?;
    let stored = graph.tasks.iter().map(|task| GraphTaskView::of(&task.task)).collect();
    Ok(ApiResponse::ok(stored).version(etag::of_graph(&graph)))
}
