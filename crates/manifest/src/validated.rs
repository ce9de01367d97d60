//! The result of validating a text.

use crate::problem::{Problem, Problems};

/// A value, present if there is no error, and all problems; warnings do not prevent a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Validated<T> {
    pub value: Option<T>,
    /// Problems in source order.
    pub problems: Vec<Problem>,
}

impl<T> Validated<T> {
    pub(crate) fn new(value: Option<T>, problems: Problems) -> Self {
        let value = value.filter(|_| !problems.has_errors());
        Self { value, problems: problems.into_vec() }
    }

    /// The value, or all problems. Discards warnings if there is a value.
    pub fn into_result(self) -> Result<T, Vec<Problem>> {
        self.value.ok_or(self.problems)
    }
}
