//! Why something is not done, in the words that clients of the module API know.

/// A legitimate no.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub kind: Kind,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What was sent is wrong, or does not fit.
    BadRequest,
    /// The caller may not.
    Forbidden,
    /// There is no such thing, for the caller.
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

    /// A module that is not there, was deleted, or is not the caller's to see.
    pub fn no_module(id: &str) -> Self {
        Self::not_found(format!("Module with ID {} could not be found.", shown(id)))
    }

    /// An instance that is not there or belongs to others.
    pub fn no_instance(id: &str) -> Self {
        Self::not_found(format!("Resource {} cannot be found.", shown(id)))
    }

    /// The agent of a node failed, did not answer, or cannot do it.
    pub fn guest(reason: &str) -> Self {
        Self::bad(format!("An error occurred communicating with the guest: {reason}"))
    }

    pub fn invalid_module(reason: &str) -> Self {
        Self::bad(format!("The module is invalid: {reason}"))
    }
}

/// A name somebody else wrote, short enough for a message.
pub(crate) fn shown(text: &str) -> String {
    const CHARS_MAX: usize = 255;
    text.chars().take(CHARS_MAX).collect()
}
