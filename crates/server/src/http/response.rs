//! HTTP responses: JSON with a status, an `ETag`, a `Content-Range`.

use std::convert::Infallible;
use std::fmt::Display;
use std::io;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use stoker_diagnostics::Diagnostic;
use stoker_model::{ErrorChain, Json, JsonMap};
use stoker_store::{List, Page};

use crate::http::error::{ApiError, ApiResult};
use crate::http::{etag, list};

/// A successful response with a body.
#[derive(Debug)]
pub(crate) struct ApiResponse<T> {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: T,
}

impl<T: Serialize> ApiResponse<T> {
    pub(crate) fn ok(body: T) -> Self {
        Self { status: StatusCode::OK, headers: Vec::new(), body }
    }

    pub(crate) fn created(body: T) -> Self {
        Self { status: StatusCode::CREATED, ..Self::ok(body) }
    }

    pub(crate) fn accepted(body: T) -> Self {
        Self { status: StatusCode::ACCEPTED, ..Self::ok(body) }
    }

    pub(crate) fn version(mut self, version: impl Display) -> Self {
        self.headers.push((header::ETAG, etag::tag(version)));
        self
    }

    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}

/// Key of the warnings about a request in its response.
pub(crate) const WARNINGS: &str = "warnings";

pub(crate) fn warning_texts(warnings: &[Diagnostic]) -> Vec<String> {
    warnings.iter().map(Diagnostic::to_string).collect()
}

/// Adds warnings about a request to the resource in its response, if there are any.
pub(crate) fn with_warnings(mut view: JsonMap, warnings: Vec<String>) -> JsonMap {
    if !warnings.is_empty() {
        view.insert(WARNINGS.to_owned(), Json::from(warnings));
    }
    view
}

impl<T: Serialize> ApiResponse<Vec<T>> {
    /// Renders a page of a collection; `show` converts each record.
    pub(crate) fn page<R>(list: &List, page: Page<R>, show: impl FnMut(R) -> T) -> ApiResult<Self> {
        let range = list::content_range(list, &page)?;
        let items = page.items.into_iter().map(show).collect();
        Ok(Self::ok(items).header(list::CONTENT_RANGE, range))
    }
}

impl<T: Serialize> IntoResponse for ApiResponse<T> {
    fn into_response(self) -> Response {
        let mut response = (self.status, axum::Json(self.body)).into_response();
        response.headers_mut().extend(self.headers);
        response
    }
}

/// Converts a document that a lower crate has rendered to the type that the operation declares.
pub(crate) fn typed<T: DeserializeOwned>(document: Json) -> ApiResult<T> {
    serde_json::from_value(document).map_err(|error| {
        tracing::error!(error = %ErrorChain(&error), "a response does not have its declared type");
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "cannot serialize the response")
    })
}

/// Response 204 No Content.
#[derive(Debug)]
pub(crate) struct NoContent;

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

/// A body serialized while the data it shows is borrowed.
#[derive(Debug)]
pub(crate) struct Raw(Chunks);

impl Raw {
    pub(crate) fn json(body: &impl Serialize) -> ApiResult<Self> {
        let mut chunks = Chunks::default();
        match serde_json::to_writer(&mut chunks, body) {
            Ok(()) => Ok(Self(chunks)),
            Err(error) => {
                tracing::error!(error = %ErrorChain(&error), "cannot serialize a response");
                Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "cannot serialize the response"))
            }
        }
    }
}

impl IntoResponse for Raw {
    fn into_response(self) -> Response {
        let length = HeaderValue::from(self.0.n_bytes);
        let chunks = self.0.finish().into_iter().map(Ok::<_, Infallible>);
        let body = Body::from_stream(tokio_stream::iter(chunks));
        (
            [
                (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
                (header::CONTENT_LENGTH, length),
            ],
            body,
        )
            .into_response()
    }
}

/// Returns a diagram or page as a response. The policy forbids scripts, because the names in it come from
/// users.
pub(crate) fn text_response(media: &'static str, text: String) -> Response {
    let policy = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'");
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media)),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    (headers, text).into_response()
}

/// Text in chunks of fixed size. A single growing buffer would be copied on each growth, and large
/// allocations are requested from the kernel for each response.
#[derive(Debug, Default)]
struct Chunks {
    full: Vec<Vec<u8>>,
    last: Vec<u8>,
    n_bytes: usize,
}

impl Chunks {
    const SIZE: usize = 32 << 10;

    fn finish(mut self) -> Vec<Vec<u8>> {
        self.full.push(self.last);
        self.full
    }
}

impl io::Write for Chunks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.last.len() + bytes.len() > Self::SIZE {
            let next = Vec::with_capacity(Self::SIZE.max(bytes.len()));
            self.full.push(std::mem::replace(&mut self.last, next));
        }
        self.last.extend_from_slice(bytes);
        self.n_bytes += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_concatenate_to_the_body() {
        let body: Vec<String> = (0..5000).map(|number| "x".repeat(number % 90)).collect();
        let mut chunks = Chunks::default();
        serde_json::to_writer(&mut chunks, &body).unwrap();
        let whole = serde_json::to_vec(&body).unwrap();
        assert_eq!(chunks.n_bytes, whole.len());
        let chunks = chunks.finish();
        assert!(chunks.len() > 5);
        assert_eq!(chunks.concat(), whole);
    }
}
