//! One folder for each resource, one line here.

use utoipa_axum::router::OpenApiRouter;

use crate::state::App;

pub(crate) use self::modules::module_faults;
pub(crate) use self::reference::document;

mod matrix;
mod named;
mod routes;

/// Declares the modules and lists what they offer.
macro_rules! resources {
    ($($name:ident),+ $(,)?) => {
        $(mod $name;)+

        /// All operations.
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
