//! Errors of the module API, with the messages that its clients expect.

/// An error for the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub kind: Kind,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The request is invalid or conflicts with the current state.
    BadRequest,
    /// The caller lacks permission.
    Forbidden,
    /// The resource does not exist or is not visible to the caller.
    NotFound,
}

pub type Refused<T> = Result<T, Refusal>;

impl Refusal {
    pub fn bad(message: impl Into<String>) -> Self {
        Self { kind: Kind::BadRequest, message: message.into() }
    }

    pub fn forbidden(message: impl Into<String>) -> Self {
        Self { kind: Kind::Forbidden, message: message.into() }
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self { kind: Kind::NotFound, message: message.into() }
    }

    /// A module that does not exist, was deleted, or is not visible to the caller.
    pub fn no_module(id: &str) -> Self {
        Self::not_found(format!("Module with ID {} could not be found.", truncated(id)))
    }

    /// An instance that does not exist or belongs to another tenant.
    pub fn no_instance(id: &str) -> Self {
        Self::not_found(format!("Resource {} cannot be found.", truncated(id)))
    }

    /// The agent of a node failed, timed out, or does not support the operation.
    pub fn guest(reason: &str) -> Self {
        Self::bad(format!("An error occurred communicating with the guest: {reason}"))
    }

    pub fn invalid_module(reason: &str) -> Self {
        Self::bad(format!("The module is invalid: {reason}"))
    }
}

/// User-supplied text, truncated for a message.
pub(crate) fn truncated(text: &str) -> String {
    const CHARS_MAX: usize = 255;
    text.chars().take(CHARS_MAX).collect()
}
