//! What came of a text.

use crate::problem::{Problem, Problems};

/// A value, if there is no error, and everything that was found: warnings come with a value, too.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged<T> {
    pub value: Option<T>,
    /// In the order of the text.
    pub problems: Vec<Problem>,
}

impl<T> Judged<T> {
    pub(crate) fn new(value: Option<T>, problems: Problems) -> Self {
        let value = value.filter(|_| !problems.has_errors());
        Self { value, problems: problems.into_vec() }
    }

    /// The value, or every problem; warnings are forgotten.
    pub fn into_result(self) -> Result<T, Vec<Problem>> {
        self.value.ok_or(self.problems)
    }
}
