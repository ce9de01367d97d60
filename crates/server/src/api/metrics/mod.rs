//! Prometheus metrics; also available without the API prefix, at `/metrics`. Scrapers authenticate with HTTP
//! Basic or a bearer token.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use stoker_model::Permission;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::routes::Routes;
use crate::metrics::CONTENT_TYPE;
use crate::state::App;

/// Media types that scrapers accept.
const TYPES: &[&str] = &["application/openmetrics-text", "text/plain"];

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("server").add_serving(Permission::Read, TYPES, routes!(metrics_show)).finish()
}

/// Retrieve metrics
///
/// Returns the metrics of this server in OpenMetrics format.
#[utoipa::path(
    get,
    path = "/api/v1/metrics",
    responses((status = 200, body = String, content_type = "application/openmetrics-text"))
)]
async fn metrics_show(State(app): State<App>) -> Response {
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], app.metrics.text().await).into_response()
}
