//! One folder for each resource, one line here.

use utoipa_axum::router::OpenApiRouter;

use crate::state::App;

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
    assignment,
    attributes,
    audit,
    clusters,
    extensions,
    facts,
    graphs,
    health,
    identity,
    metrics,
    nodes,
    plugins,
    reference,
    releases,
    roles,
    sequences,
    tags,
    tenants,
    tokens,
    transactions,
    users,
    version,
    // end sorted
}
