//! The error envelope: `{"message", "errors": [{path, line, message}]}`.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use stoker_api_types::error::{Envelope, ErrorItem, ItemSeverity};
use stoker_diagnostics::{Diagnostic, Location, Severity, summarize};
use stoker_model::ErrorChain;
use stoker_services::{ErrorReport, ServiceError};
use stoker_store::StoreError;

/// Error of a failed request.
#[derive(Debug, Clone)]
pub(crate) struct ApiError {
    status: StatusCode,
    envelope: Envelope,
    headers: Vec<(HeaderName, HeaderValue)>,
}

pub(crate) type ApiResult<T> = Result<T, ApiError>;

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

    /// Returns the error for a missing resource. `class` is the name that clients of Fuel expect: `Cluster
    /// not found`.
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

    /// Returns the error for an invalid body or query, with all its problems.
    pub(crate) fn invalid(diagnostics: Vec<Diagnostic>) -> Self {
        let message = summarize(&diagnostics);
        Self::report(StatusCode::BAD_REQUEST, ErrorReport { message, diagnostics, conflicts: Vec::new() })
    }

    /// Returns the error for a well-formed request that cannot be processed, with every reason.
    pub(crate) fn refused(diagnostics: Vec<Diagnostic>) -> Self {
        Self::report(StatusCode::BAD_REQUEST, ErrorReport::of(diagnostics))
    }

    /// Like [`Self::refused`], for conflicts with stored resources.
    pub(crate) fn conflicting(diagnostics: Vec<Diagnostic>) -> Self {
        Self::report(StatusCode::CONFLICT, ErrorReport::of(diagnostics))
    }

    fn report(status: StatusCode, report: ErrorReport) -> Self {
        let ErrorReport { message, diagnostics, conflicts } = report;
        let errors = diagnostics.into_iter().map(render_error_item).collect();
        Self { status, envelope: Envelope { message, errors, conflicts }, headers: Vec::new() }
    }

    pub(crate) fn with_conflicts(mut self, conflicts: Vec<stoker_model::Json>) -> Self {
        self.envelope.conflicts = conflicts;
        self
    }

    pub(crate) fn with_item(mut self, item: ErrorItem) -> Self {
        self.envelope.errors.push(item);
        self
    }

    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Reports whether a retry may succeed.
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

/// Converts a diagnostic to an error item. No other code does so. Notes, expressions and source texts are not
/// part of the API.
pub(crate) fn render_error_item(diagnostic: Diagnostic) -> ErrorItem {
    let Diagnostic { severity, code, kind, message, location, notes: _, help } = diagnostic;
    let (line, column) = (location.line(), location.column());
    let Location { file, path, task, nodes, plugin, provenance, .. } = location;
    let provenance = provenance.unwrap_or_default();
    ErrorItem {
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
        code: Some(code.into_owned()).filter(|code| !code.is_empty()),
        kind: kind.map(str::to_owned),
        help,
        plugin,
        task,
        nodes,
        id: None,
    }
}

/// Maps a failed use case to a status code. No other code does so. Errors that an operator must see are
/// logged here, once, with their source chain.
impl From<ServiceError> for ApiError {
    fn from(error: ServiceError) -> Self {
        if std::error::Error::source(&error).is_some() {
            tracing::error!(error = %ErrorChain(&error), "request failed");
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
        // The module API renders the same error in another envelope.
        response.extensions_mut().insert(self);
        response
    }
}
