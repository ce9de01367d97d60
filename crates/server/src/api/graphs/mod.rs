//! Graphs: by ID, by owner and graph type, and merged for a cluster.

mod access;
mod by_id;
mod by_owner;
mod check;
mod merged;
mod merged_view;
mod tasks;
mod upload;
mod view;

use stoker_model::Permission;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) use self::merged::requested_graph_type;
use crate::api::routes::Routes;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    let routes = Routes::new("graphs")
        .add(Permission::Read, routes!(by_id::graph_list))
        .add(Permission::Operate, routes!(by_id::graph_create))
        .add(Permission::Read, routes!(by_id::graph_show))
        .add(Permission::Operate, routes!(by_id::graph_update, by_id::graph_patch))
        .add(Permission::Operate, routes!(by_id::graph_delete))
        .add(Permission::Read, routes!(tasks::graph_task_list))
        .add(Permission::Operate, routes!(tasks::graph_tasks_replace))
        .add(Permission::Read, routes!(tasks::graph_task_show))
        .add(Permission::Operate, routes!(tasks::graph_task_update))
        .add(Permission::Operate, routes!(tasks::graph_task_delete))
        .add(Permission::Read, routes!(merged::cluster_task_list))
        .add(Permission::Operate, routes!(merged::cluster_tasks_replace))
        .add(Permission::Read, routes!(merged::cluster_task_list_own))
        .add(Permission::Read, routes!(merged::cluster_task_list_plugins))
        .add(Permission::Read, routes!(merged::cluster_task_list_release))
        .add(Permission::Read, routes!(check::cluster_task_check))
        .add(Permission::Read, routes!(merged::release_task_list))
        .add(Permission::Operate, routes!(merged::release_tasks_replace));
    by_owner::add_all(routes).finish()
}
