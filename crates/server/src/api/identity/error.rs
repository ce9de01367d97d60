//! Errors in Keystone's format: its clients display `error.message`.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use stoker_api_types::identity::{IdentityErrorBody, IdentityErrorDetail};

use crate::http::error::ApiError;

#[derive(Debug)]
pub(super) struct IdentityError(ApiError);

impl<E: Into<ApiError>> From<E> for IdentityError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for IdentityError {
    fn into_response(self) -> Response {
        let status = self.0.status();
        let message = self.0.message().to_owned();
        let title = status.canonical_reason().unwrap_or("Error").to_owned();
        let body = IdentityErrorBody { error: IdentityErrorDetail { code: status.as_u16(), title, message } };
        let mut response = (status, axum::Json(body)).into_response();
        if status == StatusCode::TOO_MANY_REQUESTS
            && let Some(wait) = self.0.into_response().headers().get(header::RETRY_AFTER)
        {
            response.headers_mut().insert(header::RETRY_AFTER, wait.clone());
        }
        response
    }
}
