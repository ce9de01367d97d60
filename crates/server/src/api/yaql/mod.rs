//! YAQL tools for users: evaluation over the state of a node, and the function reference.

mod evaluate;
mod functions;

use stoker_model::Permission;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::routes::Routes;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("yaql")
        .add(Permission::Read, routes!(functions::yaql_function_list))
        // Requires `Operate`: an expression can compute with a secret and reveal it despite masking.
        .add_unversioned(Permission::Operate, routes!(evaluate::yaql_evaluate))
        .finish()
}
