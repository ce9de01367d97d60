//! The result of validating a text.

use stoker_diagnostics::{Diagnostic, Diagnostics};

/// A value, present if there is no error, and all problems; warnings do not prevent a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Validated<T> {
    pub value: Option<T>,
    /// Problems in source order.
    pub problems: Vec<Diagnostic>,
}

impl<T> Validated<T> {
    pub(crate) fn new(value: Option<T>, problems: Diagnostics) -> Self {
        let value = value.filter(|_| !problems.has_errors());
        Self { value, problems: problems.into_vec() }
    }

    /// Returns the value, or all problems. Discards warnings if there is a value.
    pub fn into_result(self) -> Result<T, Vec<Diagnostic>> {
        self.value.ok_or(self.problems)
    }
}
