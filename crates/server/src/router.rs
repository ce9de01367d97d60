//! The HTTP service with all its middleware.

use std::any::Any;
use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn, from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tower::ServiceExt;
use tower::util::BoxCloneSyncService;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;

use crate::access::caller::identify;
use crate::http::client::{TlsClient, host_of};
use crate::http::error::ApiError;
use crate::http::rewrite::Rewrite;
use crate::state::App;
use crate::{api, limits, metrics, package_files, trace, web_ui};

/// The HTTP service, for a socket or a test.
pub type AppService = BoxCloneSyncService<Request, Response, Infallible>;

pub fn service(app: &App) -> AppService {
    let (router, _) = api::routes().split_for_parts();
    let rewrite = Rewrite::new(api::document::document().paths.paths.keys().map(String::as_str));
    let router = router
        .route(web_ui::ROUTE, get(web_ui::serve))
        .fallback(no_such_path)
        .method_not_allowed_fallback(no_such_method)
        // This layer is inside the spawned task of a change, so that its logs carry the trace.
        .layer(from_fn_with_state(app.orchestrator.context.tracer.clone(), trace::follow))
        .layer(from_fn(run_to_completion))
        .layer(from_fn(api::module_faults))
        .layer(from_fn_with_state(Arc::clone(&app.access), identify))
        // This route is outside authentication: nodes are not users, and their passwords must not be looked
        // up among the passwords of users.
        .route(package_files::ROUTE, get(package_files::serve))
        // Admission control runs before authentication, which is expensive.
        .layer(from_fn_with_state(Arc::clone(&app.limits), limits::admit))
        .layer(map_response(default_headers))
        .layer(from_fn(strict_transport_security))
        .layer(from_fn_with_state(Arc::clone(&app.metrics), metrics::count))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(CompressionLayer::new())
        .with_state(app.clone());
    // Paths are normalized before routing.
    BoxCloneSyncService::new(router.map_request(move |request: Request| match web_ui::find(&request) {
        Some(found) => found.put_into(request),
        None => rewrite.apply(request),
    }))
}

/// Runs a change to completion when its client disconnects: it might be committed already, and its follow-up work
/// (invalidating a revoked token) must not be cancelled.
async fn run_to_completion(request: Request, next: Next) -> Response {
    if request.method() == Method::GET || request.method() == Method::HEAD {
        return next.run(request).await;
    }
    match tokio::spawn(next.run(request)).await {
        Ok(response) => response,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => {
                ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down").into_response()
            }
        },
    }
}

async fn no_such_path(uri: Uri) -> ApiError {
    let path: String = uri.path().chars().take(200).collect();
    ApiError::new(StatusCode::NOT_FOUND, format!("no resource at `{path}`; see /api/v1/docs for all paths"))
}

async fn no_such_method(method: Method, uri: Uri) -> ApiError {
    let path: String = uri.path().chars().take(200).collect();
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, format!("method {method} is not allowed for `{path}`"))
}

/// Responses are specific to this moment and caller: forbids caching by proxies.
async fn default_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-cache, no-store, must-revalidate"));
    headers.entry(header::X_CONTENT_TYPE_OPTIONS).or_insert(HeaderValue::from_static("nosniff"));
    response
}

/// Sets `Strict-Transport-Security`, except for `localhost`, where it would affect all ports.
async fn strict_transport_security(request: Request, next: Next) -> Response {
    let host = host_of(request.headers(), request.uri()).unwrap_or_default();
    let is_sent = request.extensions().get::<TlsClient>().is_some() && !host.starts_with("localhost");
    let mut response = next.run(request).await;
    if is_sent {
        let value = HeaderValue::from_static("max-age=31536000");
        response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, value);
    }
    response
}

#[expect(clippy::needless_pass_by_value, reason = "signature required by the layer")]
fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let text =
        panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(panic = text.unwrap_or("?"), "handler panicked; this is a bug");
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error: a bug in the server; see its log")
        .into_response()
}
