//! REST API: one module per resource. Each module registers its operations in its own `routes`.

use utoipa_axum::router::OpenApiRouter;

use crate::state::App;

pub(crate) use self::modules::module_faults;
pub(crate) use self::reference::document;

mod matrix;
mod named;
mod patch;
mod routes;

/// Declares one module per resource and merges their routes.
macro_rules! resources {
    ($($name:ident),+ $(,)?) => {
        $(mod $name;)+

        /// Returns the router with the operations of all resources.
        pub(crate) fn routes() -> OpenApiRouter<App> {
            OpenApiRouter::default()$(.merge($name::routes()))+
        }
    };
}

resources! {
    // sorted
    agents,
    assignment,
    attributes,
    audit,
    clusters,
    compatibility,
    drift,
    execution,
    extensions,
    facts,
    graphs,
    health,
    identity,
    join_tokens,
    links,
    metrics,
    modules,
    nodes,
    notifications,
    plans,
    plugin_order,
    plugins,
    reference,
    releases,
    roles,
    runs,
    sequences,
    servers,
    tags,
    tenants,
    tokens,
    transactions,
    users,
    version,
    webhooks,
    wizard,
    yaql,
    // end sorted
}
