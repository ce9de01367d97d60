//! All operations behind one service.

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
use crate::http::client::{Secured, host_of};
use crate::http::error::ApiError;
use crate::http::rewrite::Rewrite;
use crate::state::App;
use crate::{api, limits, metrics, package_files, trace, web_ui};

/// The whole API, for a socket or for a test.
pub type AppService = BoxCloneSyncService<Request, Response, Infallible>;

pub fn service(app: &App) -> AppService {
    let (router, _) = api::routes().split_for_parts();
    let rewrite = Rewrite::new(api::document::document().paths.paths.keys().map(String::as_str));
    let router = router
        .route(web_ui::PLACE, get(web_ui::serve))
        .fallback(no_such_path)
        .method_not_allowed_fallback(no_such_method)
        // Inside of the task that a change gets, or it would not know whom it is for.
        .layer(from_fn_with_state(app.orchestrator.context.tracer.clone(), trace::follow))
        .layer(from_fn(to_its_end))
        .layer(from_fn(api::module_faults))
        .layer(from_fn_with_state(Arc::clone(&app.access), identify))
        // Behind the rest, since nodes are no users: whose password it is must not be looked for among theirs.
        .route(package_files::PLACE, get(package_files::serve))
        // Before passwords are looked at, which is costly.
        .layer(from_fn_with_state(Arc::clone(&app.limits), limits::admit))
        .layer(map_response(headers_of_all))
        .layer(from_fn(only_encrypted))
        .layer(from_fn_with_state(Arc::clone(&app.metrics), metrics::count))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(CompressionLayer::new())
        .with_state(app.clone());
    // Before routing, so that the router sees one spelling only.
    BoxCloneSyncService::new(router.map_request(move |request: Request| match web_ui::find(&request) {
        Some(found) => found.put_into(request),
        None => rewrite.apply(request),
    }))
}

/// A change goes on when its client hangs up: otherwise it might be committed and what follows from it (forgetting a
/// revoked token) left undone.
async fn to_its_end(request: Request, next: Next) -> Response {
    if request.method() == Method::GET || request.method() == Method::HEAD {
        return next.run(request).await;
    }
    match tokio::spawn(next.run(request)).await {
        Ok(response) => response,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "the server is ending").into_response(),
        },
    }
}

async fn no_such_path(uri: Uri) -> ApiError {
    let path: String = uri.path().chars().take(200).collect();
    ApiError::new(
        StatusCode::NOT_FOUND,
        format!("there is nothing at `{path}`; /api/v1/docs lists what there is"),
    )
}

async fn no_such_method(method: Method, uri: Uri) -> ApiError {
    let path: String = uri.path().chars().take(200).collect();
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, format!("`{path}` does not know the method {method}"))
}

/// Answers are about this moment and this caller: nobody between may keep them.
async fn headers_of_all(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-cache, no-store, must-revalidate"));
    headers.entry(header::X_CONTENT_TYPE_OPTIONS).or_insert(HeaderValue::from_static("nosniff"));
    response
}

/// Tells browsers not to try it unencrypted again. Not where the name is no site's own: it would be about all ports of it.
async fn only_encrypted(request: Request, next: Next) -> Response {
    let host = host_of(request.headers(), request.uri()).unwrap_or_default();
    let is_told = request.extensions().get::<Secured>().is_some() && !host.starts_with("localhost");
    let mut response = next.run(request).await;
    if is_told {
        let value = HeaderValue::from_static("max-age=31536000");
        response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, value);
    }
    response
}

#[expect(clippy::needless_pass_by_value, reason = "the signature that the layer wants")]
fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let text =
        panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(panic = text.unwrap_or("?"), "an operation panicked; this is a bug");
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "a bug in the server; its log says where")
        .into_response()
}
