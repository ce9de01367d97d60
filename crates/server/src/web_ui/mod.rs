//! The web UI at `/`.
//!
//! Paths of the web UI look like those of the API without a prefix (`/clusters/1`), which clients of Fuel
//! use. They are distinguished by `Accept`: a browser requests `text/html`, a client requests data. Paths
//! with an API prefix always belong to the API.

mod files;

use axum::Extension;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use axum::response::{IntoResponse, Response};

use crate::http::error::ApiError;

/// Internal route of the web UI.
pub(crate) const ROUTE: &str = "/ui";
/// First path segments that never belong to the web UI.
const OTHERS: &[&str] = &["api", "health", "keystone", "metrics", "packages", "v1.0", "v2.0", "v3"];
const PAGE: &str = "text/html";
/// Content security policy: no external or inline resources, no framing.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; \
                      frame-ancestors 'none'";

/// Requested resource of the web UI.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum WebUiRequest {
    Page,
    /// Path without a leading slash.
    File(String),
}

impl WebUiRequest {
    pub(crate) fn put_into(self, mut request: Request) -> Request {
        request.extensions_mut().insert(self);
        *request.uri_mut() = Uri::from_static(ROUTE);
        request
    }
}

/// Reports whether a request is for the web UI.
pub(crate) fn find(request: &Request<Body>) -> Option<WebUiRequest> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return None;
    }
    let path = request.uri().path().trim_start_matches('/');
    if path.starts_with("assets/") || path == "icon.svg" {
        return Some(WebUiRequest::File(path.to_owned()));
    }
    let first = path.split('/').next().unwrap_or_default();
    let is_page = path.is_empty() || (!OTHERS.contains(&first) && wants_page(request.headers()));
    is_page.then_some(WebUiRequest::Page)
}

/// Reports whether `text/html` is accepted explicitly, not through a wildcard.
fn wants_page(headers: &HeaderMap) -> bool {
    let types = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    types.flat_map(|value| value.split(',')).any(|kind| kind.split(';').next().map(str::trim) == Some(PAGE))
}

pub(crate) async fn serve(target: Option<Extension<WebUiRequest>>) -> Response {
    let file = match target {
        Some(Extension(WebUiRequest::File(path))) => files::file(&path),
        _ => Some(files::index()),
    };
    let Some(file) = file else { return ApiError::not_found("File").into_response() };
    let caching = if file.is_immutable { "public, max-age=31536000, immutable" } else { "no-cache" };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(file.content_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static(caching)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    (headers, file.bytes).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(method: Method, path: &str, accept: &str) -> Option<WebUiRequest> {
        let request = Request::builder().method(method).uri(path).header(header::ACCEPT, accept);
        find(&request.body(Body::empty()).unwrap())
    }

    #[test]
    fn accept_header_selects_page_or_data() {
        let browser = "text/html,application/xhtml+xml,*/*;q=0.8";
        for (path, accept, expected) in [
            ("/", "*/*", Some(WebUiRequest::Page)),
            ("/clusters/1", browser, Some(WebUiRequest::Page)),
            ("/clusters/1", "application/json", None),
            ("/clusters/1", "*/*", None),
            ("/no/such/page", browser, Some(WebUiRequest::Page)),
            ("/api/v1/docs", browser, None),
            ("/v1.0/auth", browser, None),
            ("/metrics", browser, None),
            ("/assets/index-1.js", "*/*", Some(WebUiRequest::File("assets/index-1.js".to_owned()))),
            ("/icon.svg", "image/*", Some(WebUiRequest::File("icon.svg".to_owned()))),
        ] {
            assert_eq!(found(Method::GET, path, accept), expected, "{path} {accept}");
        }
        assert_eq!(found(Method::POST, "/", browser), None);
    }
}
