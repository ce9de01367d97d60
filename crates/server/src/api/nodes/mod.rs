//! Nodes: discovery, assignment to clusters, deletion.

mod access;
mod agent;
mod attributes;
mod by_id;
mod collection;
mod delete;
mod discover;
mod read;
mod replace;
mod revoke;
mod stats;
mod view;

use stoker_model::Permission;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::routes::Routes;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("nodes")
        .add(Permission::Read, routes!(collection::node_list))
        .add(Permission::Operate, routes!(discover::node_create))
        .add_unversioned(Permission::Operate, routes!(collection::node_update_all))
        .add_unversioned(Permission::Operate, routes!(delete::node_delete_all))
        .add_unversioned(Permission::Operate, routes!(agent::node_report))
        .add(Permission::Read, routes!(stats::node_allocation_stats))
        .add(Permission::Read, routes!(by_id::node_show))
        .add(Permission::Operate, routes!(by_id::node_update, by_id::node_patch))
        .add(Permission::Operate, routes!(delete::node_delete))
        .add_unversioned(Permission::Operate, routes!(replace::node_replace))
        .add_unversioned(Permission::Operate, routes!(revoke::node_revoke))
        .add(Permission::Read, routes!(attributes::node_attributes_show))
        .add(Permission::Operate, routes!(attributes::node_attributes_update))
        .finish()
}
