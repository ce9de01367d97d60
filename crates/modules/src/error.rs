//! Errors of the module API, with the messages that its clients expect.

/// An error for the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleViolation {
    pub kind: ErrorKind,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request is invalid or conflicts with the current state.
    BadRequest,
    /// The caller lacks permission.
    Forbidden,
    /// The resource does not exist or is not visible to the caller.
    NotFound,
}

pub type RuleResult<T> = Result<T, RuleViolation>;

impl RuleViolation {
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::BadRequest, message: message.into() }
    }

    pub fn forbidden(message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Forbidden, message: message.into() }
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::NotFound, message: message.into() }
    }

    /// Returns the error for a module that does not exist, was deleted, or is not visible to the caller.
    pub fn module_not_found(id: &str) -> Self {
        Self::not_found(format!("Module with ID {} could not be found.", truncated(id)))
    }

    /// Returns the error for an instance that does not exist or belongs to another tenant.
    pub fn instance_not_found(id: &str) -> Self {
        Self::not_found(format!("Resource {} cannot be found.", truncated(id)))
    }

    /// Returns the error for a node whose agent failed, timed out, or does not support the operation.
    pub fn guest_error(reason: &str) -> Self {
        Self::bad_request(format!("An error occurred communicating with the guest: {reason}"))
    }

    pub fn invalid_module(reason: &str) -> Self {
        Self::bad_request(format!("The module is invalid: {reason}"))
    }
}

/// Truncates user-supplied text for a message.
pub(crate) fn truncated(text: &str) -> String {
    const CHARS_MAX: usize = 255;
    text.chars().take(CHARS_MAX).collect()
}
