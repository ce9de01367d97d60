//! Errors of use cases, classified by whose fault they are. The transport maps them to status codes.

use std::error::Error;
use std::fmt;

use stoker_diagnostics::{Diagnostic, list};
use stoker_model::{ErrorChain, Json};
use stoker_store::StoreError;

/// Error of a use case.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The input of the caller cannot be processed; a retry cannot succeed.
    #[error("{0}")]
    Invalid(ErrorReport),
    #[error("{0}")]
    NotFound(String),
    /// The input is valid but conflicts with stored records.
    #[error("{0}")]
    Conflict(ErrorReport),
    /// A rule of the product forbids the change for every caller, whatever its permissions.
    #[error("{0}")]
    Forbidden(ErrorReport),
    /// Optimistic concurrency: the record has changed since the caller read it.
    #[error("it has changed since you read it: the current version is \"{current}\"")]
    Stale { current: String },
    /// The environment failed (database, disk). A retry may help.
    #[error("{message}")]
    Unavailable { message: &'static str, source: Option<BoxedError> },
    /// A bug, or a stored record that no supported version wrote.
    #[error("{message}")]
    Internal { message: String, source: Option<BoxedError> },
}

pub type ServiceResult<T> = Result<T, ServiceError>;
type BoxedError = Box<dyn Error + Send + Sync>;

/// A human-readable summary and, if there are several problems, each of them with its location.
#[derive(Clone, Debug, Default)]
pub struct ErrorReport {
    pub message: String,
    pub diagnostics: Vec<Diagnostic>,
    /// Conflicts of a component selection, in the form of the compatibility report.
    pub conflicts: Vec<Json>,
}

/// Maximum number of problems in a response; bounds its size.
const DIAGNOSTICS_MAX: usize = 200;

impl ServiceError {
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(ErrorReport::new(message))
    }

    /// Returns the error for input that is well-formed but cannot be processed, with every reason.
    pub fn refused(diagnostics: Vec<Diagnostic>) -> Self {
        Self::Invalid(ErrorReport::of(diagnostics))
    }

    /// Returns the error for a missing resource. `class` is the name that clients of Fuel expect: `Cluster
    /// not found`.
    pub fn not_found(class: &str) -> Self {
        Self::NotFound(format!("{class} not found"))
    }

    pub fn conflict(message: impl Into<String>) -> Self {
        Self::Conflict(ErrorReport::new(message))
    }

    /// Returns the error for stored records that contradict each other, with every reason.
    pub fn conflicting(diagnostics: Vec<Diagnostic>) -> Self {
        Self::Conflict(ErrorReport::of(diagnostics))
    }

    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::Forbidden(ErrorReport::new(message))
    }

    /// Returns the error for a change that is forbidden unless it is forced. Clients recognize `code` and
    /// offer to force it.
    pub fn forbidden_unless_forced(code: &'static str, message: impl Into<String>) -> Self {
        Self::forbidden_for(Diagnostic::error(code, message).help("set `force=1` to override"))
    }

    /// Returns the error for a change that is forbidden for the reason of the diagnostic.
    pub fn forbidden_for(diagnostic: Diagnostic) -> Self {
        Self::Forbidden(ErrorReport::of(vec![diagnostic]))
    }

    /// Adds the conflicts of a component selection to a report.
    #[must_use]
    pub fn with_conflicts(mut self, conflicts: Vec<Json>) -> Self {
        if let Self::Invalid(report) | Self::Conflict(report) | Self::Forbidden(report) = &mut self {
            report.conflicts = conflicts;
        }
        self
    }

    pub fn unavailable(message: &'static str, source: impl Into<BoxedError>) -> Self {
        Self::Unavailable { message, source: Some(source.into()) }
    }

    pub fn internal(message: impl Into<String>) -> Self {
        Self::Internal { message: message.into(), source: None }
    }

    pub fn internal_from(message: impl Into<String>, source: impl Into<BoxedError>) -> Self {
        Self::Internal { message: message.into(), source: Some(source.into()) }
    }

    /// Reports whether a retry may help.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable { .. })
    }
}

impl From<StoreError> for ServiceError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::AlreadyExists { what } => Self::conflict(format!("this {what} already exists")),
            StoreError::Referenced { what } => Self::invalid(format!("it is still in use by a {what}")),
            // The resource was deleted between two reads.
            StoreError::NotFound { what } => Self::NotFound(format!("this {what} no longer exists")),
            StoreError::Stale { current } => Self::Stale { current: current.to_string() },
            StoreError::UnknownSortField { field, supported } => {
                Self::invalid(format!("cannot sort by `{field}`; supported fields: {}", supported.join(", ")))
            }
            StoreError::Unstorable { .. } => Self::invalid(ErrorChain(&error).to_string()),
            StoreError::Unavailable(_) => {
                Self::unavailable("the database is busy or unavailable; try again", error)
            }
            error => Self::internal_from("the store failed; see the server log", error),
        }
    }
}

impl ErrorReport {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// Formats the summary with the first problems.
    pub fn of(mut diagnostics: Vec<Diagnostic>) -> Self {
        let message = list(diagnostics.iter().map(|diagnostic| &diagnostic.message));
        diagnostics.truncate(DIAGNOSTICS_MAX);
        Self { message, diagnostics, conflicts: Vec::new() }
    }
}

impl fmt::Display for ErrorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_bounds_quoted_and_listed_problems() {
        let one = ErrorReport::of(vec![Diagnostic::plain("only this").path("a")]);
        assert_eq!(one.message, "only this");
        let many = (0..1000).map(|number| Diagnostic::plain(format!("problem {number}"))).collect();
        let many = ErrorReport::of(many);
        assert!(many.message.starts_with("1000 problems\n- problem 0\n"));
        assert!(many.message.ends_with("\n- problem 19\n- and 980 more"));
        assert_eq!(many.diagnostics.len(), DIAGNOSTICS_MAX);
    }

    #[test]
    fn only_environment_errors_are_transient() {
        assert!(
            ServiceError::from(StoreError::Unavailable(stoker_store::Outage::Timeout {
                after: std::time::Duration::ZERO
            }))
            .is_transient()
        );
        assert!(!ServiceError::from(StoreError::NotFound { what: "node" }).is_transient());
        assert!(!ServiceError::conflict("taken").is_transient());
    }
}
