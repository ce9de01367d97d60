//! Drift: checks of nodes, and the latest results.

mod checks;
mod results;

use stoker_model::Permission;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use self::results::latest_results;
use crate::api::routes::Routes;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("drift")
        .add(Permission::Read, routes!(checks::drift_check_list))
        .add(Permission::Plan, routes!(checks::drift_check_create))
        .add(Permission::Read, routes!(checks::drift_check_show))
        .add(Permission::Read, routes!(results::drift_list))
        .finish()
}
