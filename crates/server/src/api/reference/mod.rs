//! API reference: the OpenAPI document and a rendered HTML page.

pub(crate) mod document;
pub(super) mod page;

use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use stoker_model::Permission;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::routes::Routes;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("server")
        .add(Permission::Public, routes!(reference_document))
        .add_serving(Permission::Public, &["text/html"], routes!(reference_page))
        .finish()
}

/// Retrieve the OpenAPI document
///
/// Returns the OpenAPI 3.1 document of this API.
#[utoipa::path(
    get,
    path = "/api/v1/openapi.json",
    responses((status = 200, body = serde_json::Value, content_type = "application/json"))
)]
async fn reference_document() -> Response {
    axum::Json(document::document()).into_response()
}

/// Retrieve the API reference
///
/// Returns the documentation of this API as an HTML page.
#[utoipa::path(get, path = "/api/v1/docs", responses((status = 200, body = String, content_type = "text/html")))]
async fn reference_page() -> Response {
    // The page contains only static text and loads no resources, so the policy forbids everything except
    // inline styles.
    let policy = [(header::CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'")];
    (policy, Html(page::render(&document::document()))).into_response()
}
