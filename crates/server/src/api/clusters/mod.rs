//! Clusters. Settings, facts and node assignment are separate resources.

pub(super) mod access;
mod by_id;
mod collection;
mod delete;
mod extensions;
mod overview;
mod read;
mod release_move;
mod view;

use stoker_model::Permission;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::routes::Routes;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("clusters")
        .add(Permission::Read, routes!(collection::cluster_list))
        .add(Permission::Operate, routes!(collection::cluster_create))
        .add(Permission::Read, routes!(overview::cluster_overview))
        .add(Permission::Read, routes!(by_id::cluster_show))
        .add(Permission::Operate, routes!(by_id::cluster_update, by_id::cluster_patch))
        .add(Permission::Read, routes!(release_move::cluster_release_preview))
        .add(Permission::Operate, routes!(delete::cluster_delete))
        .add(Permission::Read, routes!(extensions::cluster_extension_list))
        .add(Permission::Operate, routes!(extensions::cluster_extension_add))
        .add(Permission::Operate, routes!(extensions::cluster_extension_remove))
        .finish()
}
