//! The error envelope: `{"message", "errors": [{path, line, message}]}`.

use std::borrow::Cow;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use stoker_diagnostics::{Diagnostic, Location, Severity, summarize};
use stoker_services::{ErrorReport, ServiceError};
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

/// One problem.
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
    pub(crate) code: Option<Cow<'static, str>>,
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
    pub(crate) fn invalid(diagnostics: Vec<Diagnostic>) -> Self {
        let message = summarize(&diagnostics);
        Self::report(StatusCode::BAD_REQUEST, ErrorReport { message, diagnostics, conflicts: Vec::new() })
    }

    /// A well-formed request that cannot be processed, with every reason.
    pub(crate) fn refused(diagnostics: Vec<Diagnostic>) -> Self {
        Self::report(StatusCode::BAD_REQUEST, ErrorReport::of(diagnostics))
    }

    /// Like [`Self::refused`], for conflicts with stored resources.
    pub(crate) fn conflicting(diagnostics: Vec<Diagnostic>) -> Self {
        Self::report(StatusCode::CONFLICT, ErrorReport::of(diagnostics))
    }

    fn report(status: StatusCode, report: ErrorReport) -> Self {
        let ErrorReport { message, diagnostics, conflicts } = report;
        let errors = diagnostics.into_iter().map(ErrorItem::from).collect();
        Self { status, envelope: Envelope { message, errors, conflicts }, headers: Vec::new() }
    }

    pub(crate) fn with_conflicts(mut self, conflicts: Vec<stoker_model::Json>) -> Self {
        self.envelope.conflicts = conflicts;
        self
    }

    pub(crate) fn with_item(mut self, item: impl Into<ErrorItem>) -> Self {
        self.envelope.errors.push(item.into());
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

/// The only conversion of diagnostics to error items. Notes, expressions and source texts are not part of the API.
impl From<Diagnostic> for ErrorItem {
    fn from(diagnostic: Diagnostic) -> Self {
        let Diagnostic { severity, code, kind, message, location, notes: _, help } = diagnostic;
        let (line, column) = (location.line(), location.column());
        let Location { file, path, task, nodes, plugin, provenance, .. } = location;
        let provenance = provenance.unwrap_or_default();
        Self {
            severity: match severity {
                Severity::Error => ItemSeverity::Error,
                Severity::Warning | Severity::Note => ItemSeverity::Warning,
            },
            path,
            message,
            line,
            column,
            file: file.or(provenance.file),
            layer: provenance.layer,
            code: Some(code).filter(|code| !code.is_empty()),
            kind,
            help,
            plugin,
            task,
            nodes,
            id: None,
        }
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
