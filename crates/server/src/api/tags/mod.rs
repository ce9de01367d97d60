//! Tags of releases and clusters. Roles assign them to nodes, and tasks are placed by them.

mod by_owner;
mod change;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::api::routes::Routes;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    by_owner::add_all(Routes::new("tags")).finish()
}
