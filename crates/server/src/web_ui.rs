//! The web interface at `/`.
//!
//! Its addresses look like those of the API without its prefix (`/clusters/1`), which old clients use. They are told
//! apart by what is asked for: a browser that goes somewhere asks for a page, a client for data. What has a prefix of
//! the API is always the API's.

use axum::Extension;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use axum::response::{IntoResponse, Response};

use crate::http::error::ApiError;

/// Where the router finds it, whatever the address was.
pub(crate) const PLACE: &str = "/ui";
/// First segments that never belong to the interface.
const OTHERS: &[&str] = &["api", "health", "keystone", "metrics", "packages", "v1.0", "v2.0", "v3"];
const PAGE: &str = "text/html";
/// Nothing from elsewhere, nothing inline, shown in no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; \
                      frame-ancestors 'none'";

/// What of the interface is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Found {
    Page,
    /// Without a slash in front.
    File(String),
}

impl Found {
    pub(crate) fn put_into(self, mut request: Request) -> Request {
        request.extensions_mut().insert(self);
        *request.uri_mut() = Uri::from_static(PLACE);
        request
    }
}

/// Whether a request is for the interface.
pub(crate) fn find(request: &Request<Body>) -> Option<Found> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return None;
    }
    let path = request.uri().path().trim_start_matches('/');
    if path.starts_with("assets/") || path == "icon.svg" {
        return Some(Found::File(path.to_owned()));
    }
    let first = path.split('/').next().unwrap_or_default();
    let is_page = path.is_empty() || (!OTHERS.contains(&first) && wants_page(request.headers()));
    is_page.then_some(Found::Page)
}

/// Named, and not as part of "anything".
fn wants_page(headers: &HeaderMap) -> bool {
    let named = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    named.flat_map(|value| value.split(',')).any(|kind| kind.split(';').next().map(str::trim) == Some(PAGE))
}

pub(crate) async fn serve(found: Option<Extension<Found>>) -> Response {
    let file = match found {
        Some(Extension(Found::File(path))) => stoker_ui::file(&path),
        _ => Some(stoker_ui::index()),
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

    fn found(method: Method, path: &str, accept: &str) -> Option<Found> {
        let request = Request::builder().method(method).uri(path).header(header::ACCEPT, accept);
        find(&request.body(Body::empty()).unwrap())
    }

    #[test]
    fn pages_are_for_browsers_and_data_for_clients() {
        let browser = "text/html,application/xhtml+xml,*/*;q=0.8";
        for (path, accept, expected) in [
            ("/", "*/*", Some(Found::Page)),
            ("/clusters/1", browser, Some(Found::Page)),
            ("/clusters/1", "application/json", None),
            ("/clusters/1", "*/*", None),
            ("/no/such/page", browser, Some(Found::Page)),
            ("/api/v1/docs", browser, None),
            ("/v1.0/auth", browser, None),
            ("/metrics", browser, None),
            ("/assets/index-1.js", "*/*", Some(Found::File("assets/index-1.js".to_owned()))),
            ("/icon.svg", "image/*", Some(Found::File("icon.svg".to_owned()))),
        ] {
            assert_eq!(found(Method::GET, path, accept), expected, "{path} {accept}");
        }
        assert_eq!(found(Method::POST, "/", browser), None);
    }
}
