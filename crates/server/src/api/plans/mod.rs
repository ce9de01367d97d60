//! Plans: create, read, compare, draw and delete. A plan that is never applied is a dry run.

mod access;
mod by_id;
mod changes;
mod collection;
mod compare;
mod differences;
mod graph_gv;
mod instances;
mod matrix;
mod picture;
mod serialized;
mod tasks;
mod view;

use stoker_model::Permission;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) use self::access::require_plan;
use crate::api::routes::Routes;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("plans")
        .add(Permission::Read, routes!(collection::plan_list))
        .add(Permission::Plan, routes!(collection::plan_create))
        .add(Permission::Read, routes!(by_id::plan_show))
        .add_unversioned(Permission::Operate, routes!(by_id::plan_delete))
        .add(Permission::Read, routes!(instances::plan_instance_list))
        .add(Permission::Read, routes!(matrix::plan_matrix))
        .add(Permission::Read, routes!(changes::plan_changes))
        .add(Permission::Read, routes!(differences::plan_difference_list))
        .add(Permission::Read, routes!(tasks::plan_task_list))
        .add(Permission::Read, routes!(compare::plan_compare))
        .add(Permission::Read, routes!(serialized::cluster_serialized_tasks))
        .add_serving(Permission::Read, picture::TYPES, routes!(picture::plan_picture))
        .add_serving(Permission::Read, &[picture::DOT], routes!(graph_gv::cluster_graph_gv))
        .finish()
}
