//! Execution order of the stage tasks of enabled plugins.

mod view;

use axum::extract::State;
use stoker_model::{Cluster, Graph, GraphType, Owner, Permission, Plugin, Task};
use stoker_registry::stages::{StagePlugin, notes, order_tasks, task_ids};
use stoker_store::Session;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::view::{ErrorView, NoteView, OrderView, TaskView};
use crate::access::caller::Authenticated;
use crate::api::clusters::access::cluster_of;
use crate::api::routes::Routes;
use crate::http::response::ApiResponse;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("clusters").add(Permission::Read, routes!(cluster_plugin_order)).finish()
}

/// Enabled plugin with its graph, whose tasks may also declare stages.
struct Enabled {
    plugin: Plugin,
    graph: Option<Graph>,
}

/// Retrieve the execution order of plugin tasks
///
/// Returns the stage tasks of all enabled plugins, sorted by stage, number, plugin name and position in the
/// file of the plugin. Plugins with an invalid stage are omitted and reported in `errors`.
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/plugins/order", params(("id" = i64, Path)),
    responses((status = 200, body = OrderView))
)]
async fn cluster_plugin_order(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<OrderView>> {
    let mut session = app.store.snapshot().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    let enabled = enabled(&mut session, &cluster).await?;
    drop(session);
    Ok(ApiResponse::ok(ordered(&enabled)))
}

async fn enabled(session: &mut Session, cluster: &Cluster) -> ApiResult<Vec<Enabled>> {
    let mut enabled = Vec::new();
    for link in session.cluster_plugins(cluster.id).await?.into_iter().filter(|link| link.enabled) {
        let Some(plugin) = session.plugin_get(link.plugin_id).await? else { continue };
        let graph = session.graph_find(Owner::Plugin(plugin.id), &GraphType::default()).await?;
        enabled.push(Enabled { plugin, graph });
    }
    Ok(enabled)
}

fn ordered(enabled: &[Enabled]) -> OrderView {
    let staged: Vec<Vec<&Task>> = enabled.iter().map(Enabled::staged).collect();
    let plugins: Vec<StagePlugin<'_>> =
        enabled.iter().zip(&staged).map(|(enabled, tasks)| enabled.stage_plugin(tasks)).collect();
    let mut errors = Vec::new();
    let mut valid = Vec::new();
    for plugin in plugins {
        match order_tasks(&[plugin]) {
            Ok(_) => valid.push(plugin),
            Err(problems) => errors.extend(problems.into_iter().map(ErrorView::from)),
        }
    }
    let (ordered, duplicates) = match order_tasks(&valid) {
        Ok(ordered) => (ordered, Vec::new()),
        Err(duplicates) => (Vec::new(), duplicates),
    };
    errors.extend(duplicates.into_iter().map(ErrorView::from));
    let notes = notes(&ordered);
    let ids = task_ids(&valid, &ordered);
    let positions = ordered.iter().zip(ids).enumerate();
    let tasks =
        positions.map(|(index, (task, id))| TaskView::new(index + 1, id, task, &valid, &notes)).collect();
    OrderView { tasks, notes: notes.iter().map(NoteView::from).collect(), errors }
}

impl Enabled {
    /// Returns the tasks of the graph that declare a stage.
    fn staged(&self) -> Vec<&Task> {
        let tasks = self.graph.iter().flat_map(|graph| graph.tasks.iter()).map(|stored| &stored.task);
        tasks.filter(|task| task.field("stage").is_some_and(|stage| !stage.is_null())).collect()
    }

    fn stage_plugin<'a>(&'a self, graph_tasks: &'a [&'a Task]) -> StagePlugin<'a> {
        let body = &self.plugin.body;
        StagePlugin {
            name: &body.name,
            version: &body.version,
            package_version: &body.package_version,
            tasks: &body.tasks,
            graph_tasks,
        }
    }
}
