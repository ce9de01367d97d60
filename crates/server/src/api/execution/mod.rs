//! Operations that start and stop runs, including the Fuel-compatible ones.

mod by_cluster;
mod execute;
mod read;
mod stop;

use stoker_model::Permission;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) use self::read::subgraph;
use crate::api::routes::Routes;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("runs")
        .add_unversioned(Permission::Operate, routes!(execute::graphs_execute))
        .add_unversioned(Permission::Operate, routes!(execute::sequence_execute))
        .add_unversioned(Permission::Operate, routes!(execute::plan_apply))
        .add_unversioned(Permission::Operate, routes!(by_cluster::cluster_deploy))
        .add_unversioned(Permission::Operate, routes!(by_cluster::cluster_deploy_tasks))
        .add_unversioned(Permission::Operate, routes!(by_cluster::cluster_changes))
        .add_unversioned(Permission::Operate, routes!(by_cluster::cluster_redeploy))
        .add_unversioned(Permission::Operate, routes!(by_cluster::cluster_provision))
        .add_unversioned(Permission::Operate, routes!(by_cluster::cluster_spawn_vms))
        .add_unversioned(Permission::Operate, routes!(stop::cluster_stop))
        .add_unversioned(Permission::Operate, routes!(stop::cluster_reset))
        .finish()
}
