//! Error envelope of the module API: one key named after the error class, with status code and message.

use std::collections::BTreeMap;

use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use stoker_api_types::modules::FaultBody;
use stoker_model::ErrorChain;
use stoker_modules::{ErrorKind, RuleViolation};
use stoker_services::ServiceError;
use stoker_services::modules::ModuleError;
use stoker_services::modules::keys::KeyError;
use stoker_store::StoreError;
use utoipa::IntoResponses;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, ResponseBuilder};

use crate::http::error::ApiError;

/// Path prefix of the module API.
const PATH_PREFIX: &str = "/v1.0/";

pub(super) type FaultResult<T> = Result<T, Fault>;

/// Error response of the module API.
#[derive(Debug)]
pub(super) struct Fault {
    status: StatusCode,
    message: String,
    retry_after: Option<HeaderValue>,
}

impl Fault {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), retry_after: None }
    }

    /// Returns the error for a body that is not valid JSON or YAML.
    pub(super) fn malformed(error: ApiError) -> Self {
        if error.status() == StatusCode::BAD_REQUEST {
            return Self::new(error.status(), format!("Malformed request body: {}", error.message()));
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

impl From<RuleViolation> for Fault {
    fn from(refusal: RuleViolation) -> Self {
        let status = match refusal.kind {
            ErrorKind::BadRequest => StatusCode::BAD_REQUEST,
            ErrorKind::Forbidden => StatusCode::FORBIDDEN,
            ErrorKind::NotFound => StatusCode::NOT_FOUND,
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

impl From<ModuleError> for Fault {
    fn from(error: ModuleError) -> Self {
        let message = ErrorChain(&error).to_string();
        match error {
            ModuleError::Refused(refusal) => refusal.into(),
            ModuleError::TooLarge { .. } | ModuleError::OverQuota(_) => {
                Self::new(StatusCode::PAYLOAD_TOO_LARGE, message)
            }
            ModuleError::Unprocessable(_) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, message),
            ModuleError::Keys(error) => error.into(),
            ModuleError::Service(error) => error.into(),
        }
    }
}

impl From<KeyError> for Fault {
    fn from(error: KeyError) -> Self {
        tracing::error!(error = %ErrorChain(&error), "cannot encrypt or decrypt module contents");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "Internal Server Error: cannot encrypt or decrypt module contents; see the server log",
        )
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let detail = json!({"code": self.status.as_u16(), "message": self.message});
        let body = FaultBody(BTreeMap::from([(self.kind().to_owned(), detail)]));
        let mut response = (self.status, axum::Json(body)).into_response();
        if let Some(wait) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, wait);
        }
        response
    }
}

/// Middleware that converts errors raised before a module operation was reached to the envelope of the module
/// API.
pub(crate) async fn module_faults(request: Request, next: Next) -> Response {
    let is_module_api = request.uri().path().starts_with(PATH_PREFIX);
    let response = next.run(request).await;
    let Some(error) = response.extensions().get::<ApiError>().filter(|_| is_module_api) else {
        return response;
    };
    let mut converted = Fault::from(error.clone()).into_response();
    for (name, value) in response.headers() {
        if name != header::CONTENT_LENGTH && !converted.headers().contains_key(name) {
            converted.headers_mut().insert(name, value.clone());
        }
    }
    converted
}

/// Error responses of every operation of the module API.
pub(super) struct Faults;

impl IntoResponses for Faults {
    fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        let meanings = [
            ("400", "The request is invalid; nothing was changed"),
            ("403", "The caller lacks the required permission"),
            ("404", "The resource does not exist or the caller may not see it"),
            ("413", "The request is too large or exceeds a quota"),
            ("422", "The current state does not permit the request"),
        ];
        let response = |meaning: &str| {
            let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("ModuleFault"))).build();
            RefOr::T(ResponseBuilder::new().description(meaning).content("application/json", content).build())
        };
        meanings.into_iter().map(|(status, meaning)| (status.to_owned(), response(meaning))).collect()
    }
}
