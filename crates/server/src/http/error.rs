//! The error envelope: `{"message", "errors": [{path, line, message}]}`.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use stoker_manifest::Problem;
use stoker_services::{ErrorDetail, ErrorReport, ServiceError, Severity};
use stoker_store::StoreError;
use utoipa::ToSchema;

/// A failed request.
#[derive(Debug, Clone)]
pub(crate) struct ApiError {
    status: StatusCode,
    envelope: Envelope,
    headers: Vec<(HeaderName, HeaderValue)>,
}

pub(crate) type ApiResult<T> = Result<T, ApiError>;

/// Error response.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Error)]
pub(crate) struct Envelope {
    /// Human-readable summary of all problems.
    #[schema(example = "Cluster not found")]
    pub(crate) message: String,
    /// One entry per problem; empty if `message` is sufficient.
    pub(crate) errors: Vec<ErrorItem>,
    /// Conflicts of a component selection, as returned by `components/check`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, value_type = Vec<Object>)]
    pub(crate) conflicts: Vec<stoker_model::Json>,
}

/// Severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Severity)]
pub(crate) enum ItemSeverity {
    /// The request fails because of it.
    Error,
    /// The request succeeds, but the input is probably a mistake.
    Warning,
}

/// A problem in the request.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ErrorItem {
    pub(crate) severity: ItemSeverity,
    /// Path in the document, such as `tasks[3].requires`; empty for the whole document.
    pub(crate) path: String,
    pub(crate) message: String,
    /// Line in the request body, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<u32>,
    /// Column in the line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<u32>,
    /// Name of the uploaded file; `line` refers to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    /// The layer that set the field: `release`, `cluster`, or a plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) layer: Option<String>,
    /// Stable identifier of the class of problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<&'static str>,
    /// How two components conflict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<&'static str>,
    /// Suggested fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) help: Option<String>,
    /// Name of the affected plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) plugin: Option<String>,
    /// Name of the affected task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<String>,
    /// Affected nodes; only the first ones if there are many.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub(crate) nodes: Vec<String>,
    /// Id of the conflicting resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<i64>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            envelope: Envelope { message: message.into(), errors: Vec::new(), conflicts: Vec::new() },
            headers: Vec::new(),
        }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// `class` is the name that Fuel clients expect: `Cluster not found`.
    pub(crate) fn not_found(class: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("{class} not found"))
    }

    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, message)
    }

    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, message)
    }

    pub(crate) fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, message)
    }

    pub(crate) fn stale(current: &str) -> Self {
        let message = format!("it has changed since you read it: the current version is \"{current}\"");
        Self::new(StatusCode::PRECONDITION_FAILED, message)
    }

    /// An invalid body or query, with all its problems.
    pub(crate) fn invalid(problems: &[Problem]) -> Self {
        let details = problems.iter().map(ErrorDetail::from).collect();
        let message = stoker_manifest::summary(problems);
        Self::report(StatusCode::BAD_REQUEST, ErrorReport { message, details, conflicts: Vec::new() })
    }

    /// A well-formed request that cannot be processed, with every reason.
    pub(crate) fn refused(details: Vec<ErrorDetail>) -> Self {
        Self::report(StatusCode::BAD_REQUEST, ErrorReport::of(details))
    }

    /// Like [`Self::refused`], for conflicts with stored resources.
    pub(crate) fn conflicting(details: Vec<ErrorDetail>) -> Self {
        Self::report(StatusCode::CONFLICT, ErrorReport::of(details))
    }

    fn report(status: StatusCode, report: ErrorReport) -> Self {
        let ErrorReport { message, details, conflicts } = report;
        let errors = details.into_iter().map(ErrorItem::from).collect();
        Self { status, envelope: Envelope { message, errors, conflicts }, headers: Vec::new() }
    }

    pub(crate) fn with_conflicts(mut self, conflicts: Vec<stoker_model::Json>) -> Self {
        self.envelope.conflicts = conflicts;
        self
    }

    pub(crate) fn with_item(mut self, detail: ErrorDetail) -> Self {
        self.envelope.errors.push(detail.into());
        self
    }

    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Whether a retry may succeed.
    pub(crate) fn is_transient(&self) -> bool {
        self.status == StatusCode::SERVICE_UNAVAILABLE
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    pub(crate) fn message(&self) -> &str {
        &self.envelope.message
    }
}

impl From<ErrorDetail> for ErrorItem {
    fn from(detail: ErrorDetail) -> Self {
        let ErrorDetail {
            severity,
            path,
            message,
            line,
            column,
            file,
            layer,
            code,
            kind,
            help,
            plugin,
            task,
            nodes,
            id,
        } = detail;
        let severity = match severity {
            Severity::Error => ItemSeverity::Error,
            Severity::Warning => ItemSeverity::Warning,
        };
        Self { severity, path, message, line, column, file, layer, code, kind, help, plugin, task, nodes, id }
    }
}

/// Maps a failed use case to a status code; the only place that does. Errors that an operator must see are logged here,
/// once, with their source chain.
impl From<ServiceError> for ApiError {
    fn from(error: ServiceError) -> Self {
        if let Some(source) = std::error::Error::source(&error) {
            tracing::error!(error = %error, cause = ?source, "request failed");
        }
        match error {
            ServiceError::Invalid(report) => Self::report(StatusCode::BAD_REQUEST, report),
            ServiceError::NotFound(message) => Self::new(StatusCode::NOT_FOUND, message),
            ServiceError::Conflict(report) => Self::report(StatusCode::CONFLICT, report),
            ServiceError::Forbidden(report) => Self::report(StatusCode::FORBIDDEN, report),
            ServiceError::Stale { current } => Self::stale(&current),
            ServiceError::Unavailable { message, .. } => Self::new(StatusCode::SERVICE_UNAVAILABLE, message)
                .with_header(header::RETRY_AFTER, HeaderValue::from_static("1")),
            ServiceError::Internal { message, .. } => Self::new(StatusCode::INTERNAL_SERVER_ERROR, message),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        ServiceError::from(error).into()
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, axum::Json(&self.envelope)).into_response();
        for (name, value) in &self.headers {
            response.headers_mut().insert(name, value.clone());
        }
        // The module API renders the same error in its own envelope.
        response.extensions_mut().insert(self);
        response
    }
}
