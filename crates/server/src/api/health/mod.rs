//! Health check for load balancers; also available without the API prefix, at `/health`.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use stoker_api_types::health::Health;
use stoker_model::{ErrorChain, Permission};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::routes::Routes;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("server").add(Permission::Public, routes!(health_show)).finish()
}

/// Check health
///
/// Returns 503 if the database does not respond.
#[utoipa::path(get, path = "/api/v1/health", responses((status = 200, body = Health), (status = 503, body = Health)))]
async fn health_show(State(app): State<App>) -> Response {
    match app.store.ping().await {
        Ok(()) => (StatusCode::OK, axum::Json(Health { status: "ok".into(), database: "ok".into() }))
            .into_response(),
        Err(error) => {
            tracing::error!(error = %ErrorChain(&error), "database does not respond");
            let health = Health { status: "failing".into(), database: "does not answer".into() };
            (StatusCode::SERVICE_UNAVAILABLE, axum::Json(health)).into_response()
        }
    }
}
