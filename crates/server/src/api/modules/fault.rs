//! The envelope of the module API: one key named after the kind, with the code and a message.

use std::collections::BTreeMap;

use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use stoker_modules::{Kind, Refusal};
use stoker_services::ServiceError;
use stoker_store::StoreError;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};
use stoker_services::modules::keys::KeyError;

use crate::http::error::ApiError;

/// Where the module API lives.
const PLACE: &str = "/v1.0/";

pub(super) type Answered<T> = Result<T, Fault>;

/// Why a request was not done.
#[derive(Debug)]
pub(super) struct Fault {
    status: StatusCode,
    message: String,
    retry_after: Option<HeaderValue>,
}

/// What went wrong: `{"badRequest": {"code": 400, "message": "…"}}`.
#[derive(ToSchema)]
#[schema(as = ModuleFault)]
#[expect(dead_code, reason = "documentation of the body, which is written with its one key")]
pub(super) struct FaultBody(BTreeMap<String, serde_json::Value>);

impl Fault {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), retry_after: None }
    }

    /// A body that cannot be read.
    pub(super) fn malformed(error: ApiError) -> Self {
        if error.status() == StatusCode::BAD_REQUEST {
            return Self::new(error.status(), format!("Malformed request body: {}", error.message()));
        }
        error.into()
    }

    /// It is well said, and not possible now.
    pub(super) fn unprocessable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    pub(super) fn too_large(what: &str, bytes_max: usize) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, format!("{what} larger than {bytes_max} bytes"))
    }

    /// A tenant has as much as it may.
    pub(super) fn over_quota(error: ApiError) -> Self {
        if error.status() == StatusCode::CONFLICT {
            return Self::new(StatusCode::PAYLOAD_TOO_LARGE, error.message());
        }
        error.into()
    }

    fn kind(&self) -> &'static str {
        match self.status.as_u16() {
            400 => "badRequest",
            401 => "unauthorized",
            403 => "forbidden",
            404 => "itemNotFound",
            405 => "badMethod",
            409 => "conflictingRequest",
            413 => "overLimit",
            422 => "unprocessableEntity",
            503 => "serviceUnavailable",
            _ => "instanceFault",
        }
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        let status = match refusal.kind {
            Kind::BadRequest => StatusCode::BAD_REQUEST,
            Kind::Forbidden => StatusCode::FORBIDDEN,
            Kind::NotFound => StatusCode::NOT_FOUND,
        };
        Self::new(status, refusal.message)
    }
}

impl From<ApiError> for Fault {
    fn from(error: ApiError) -> Self {
        let (status, message) = (error.status(), error.message().to_owned());
        let retry_after = error.into_response().headers().get(header::RETRY_AFTER).cloned();
        Self { status, message, retry_after }
    }
}

impl From<ServiceError> for Fault {
    fn from(error: ServiceError) -> Self {
        ApiError::from(error).into()
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        ApiError::from(error).into()
    }
}

impl From<KeyError> for Fault {
    fn from(error: KeyError) -> Self {
        tracing::error!(error = %error, "contents of modules cannot be sealed or opened");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "Internal Server Error: contents of modules cannot be sealed or opened; the log of the server says why",
        )
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let body = json!({self.kind(): {"code": self.status.as_u16(), "message": self.message}});
        let mut response = (self.status, axum::Json(body)).into_response();
        if let Some(wait) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, wait);
        }
        response
    }
}

/// Refusals that were made before an operation of the module API was reached, in the envelope of that API.
pub(crate) async fn module_faults(request: Request, next: Next) -> Response {
    let is_ours = request.uri().path().starts_with(PLACE);
    let response = next.run(request).await;
    let Some(error) = response.extensions().get::<ApiError>().filter(|_| is_ours) else { return response };
    let mut told = Fault::from(error.clone()).into_response();
    for (name, value) in response.headers() {
        if name != header::CONTENT_LENGTH && !told.headers().contains_key(name) {
            told.headers_mut().insert(name, value.clone());
        }
    }
    told
}

/// The answers that every operation of the module API may give.
pub(super) struct Faults;

impl IntoResponses for Faults {
    fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        let meanings = [
            ("400", "Not valid, or not possible; nothing was changed"),
            ("403", "Not allowed"),
            ("404", "Not there, or not for the caller"),
            ("413", "Too large"),
            ("422", "Well said, and not possible now"),
        ];
        let response = |meaning: &str| {
            let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("ModuleFault"))).build();
            RefOr::T(ResponseBuilder::new().description(meaning).content("application/json", content).build())
        };
        meanings.into_iter().map(|(status, meaning)| (status.to_owned(), response(meaning))).collect()
    }
}
