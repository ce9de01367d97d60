//! The one envelope of everything that is not a success: `{"message", "errors": [{path, line, message}]}`.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use stoker_manifest::Problem;
use stoker_services::{ErrorDetail, ErrorReport, ServiceError, Severity};
use stoker_store::StoreError;
use utoipa::ToSchema;

/// Why a request was not done.
#[derive(Debug, Clone)]
pub(crate) struct ApiError {
    status: StatusCode,
    envelope: Envelope,
    headers: Vec<(HeaderName, HeaderValue)>,
}

pub(crate) type ApiResult<T> = Result<T, ApiError>;

/// What went wrong, for people and programs.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Error)]
pub(crate) struct Envelope {
    /// A readable sum of all problems.
    #[schema(example = "Cluster not found")]
    pub(crate) message: String,
    /// One entry a problem; empty when the message says it all.
    pub(crate) errors: Vec<ErrorItem>,
    /// What speaks against a selection of components, as `components/check` tells it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, value_type = Vec<Object>)]
    pub(crate) conflicts: Vec<stoker_model::Json>,
}

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Severity)]
pub(crate) enum ItemSeverity {
    /// It cannot be done like this.
    Error,
    /// It can, but is probably not what was meant.
    Warning,
}

/// One problem.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ErrorItem {
    pub(crate) severity: ItemSeverity,
    /// Where in the document: `tasks[3].requires`; empty for the whole.
    pub(crate) path: String,
    pub(crate) message: String,
    /// Line in the body as it was sent, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<u32>,
    /// Column in that line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<u32>,
    /// The file that was uploaded, as its sender calls it; `line` is a line of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    /// The layer that set the field: `release`, `cluster`, or a plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) layer: Option<String>,
    /// A stable name of the kind of problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<&'static str>,
    /// In what way two things are at odds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<&'static str>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) help: Option<String>,
    /// The plugin it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) plugin: Option<String>,
    /// The task it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<String>,
    /// Nodes on which it was found; the first of them where there are many.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub(crate) nodes: Vec<String>,
    /// The thing that is in the way, where there is one.
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

    /// The class name of the thing, as the predecessor's clients expect it: `Cluster not found`.
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
        let message = format!("it has been changed since you read it: the present version is \"{current}\"");
        Self::new(StatusCode::PRECONDITION_FAILED, message)
    }

    /// A body or a query that is not valid, with all its problems.
    pub(crate) fn invalid(problems: &[Problem]) -> Self {
        let details = problems.iter().map(ErrorDetail::from).collect();
        let message = stoker_manifest::summary(problems);
        Self::report(StatusCode::BAD_REQUEST, ErrorReport { message, details, conflicts: Vec::new() })
    }

    /// A request that is well written and cannot be done, with every reason.
    pub(crate) fn refused(details: Vec<ErrorDetail>) -> Self {
        Self::report(StatusCode::BAD_REQUEST, ErrorReport::of(details))
    }

    /// The same where things that are stored are at odds with each other.
    pub(crate) fn in_the_way(details: Vec<ErrorDetail>) -> Self {
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

    /// Whether trying again later helps.
    pub(crate) fn is_passing(&self) -> bool {
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

/// The one place where a failed use case becomes a status code. What an operator must look at is logged here, once, with its
/// causes.
impl From<ServiceError> for ApiError {
    fn from(error: ServiceError) -> Self {
        if let Some(source) = std::error::Error::source(&error) {
            tracing::error!(error = %error, cause = ?source, "a request failed on the server's side");
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
        // For APIs that tell the same in an envelope of their own.
        response.extensions_mut().insert(self);
        response
    }
}
