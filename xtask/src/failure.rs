//! The error type of this tool: a message for the developer who ran it.

use std::fmt;

/// A failed command: what failed, why, and how to fix it.
#[derive(Debug)]
pub(crate) struct Failure(String);

pub(crate) type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Prefixes an error with the operation that failed.
pub(crate) trait Context<T> {
    fn context(self, operation: impl fmt::Display) -> Outcome<T>;
}

impl<T, E: std::error::Error> Context<T> for Result<T, E> {
    fn context(self, operation: impl fmt::Display) -> Outcome<T> {
        self.map_err(|error| Failure(format!("{operation}: {error}")))
    }
}
