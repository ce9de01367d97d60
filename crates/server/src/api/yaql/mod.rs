//! The query language for people: tried out over the state of a real node, and what can be called in it.

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
        // Whoever computes with a secret can learn it, masked or not.
        .add_unversioned(Permission::Operate, routes!(evaluate::yaql_evaluate))
        .finish()
}
