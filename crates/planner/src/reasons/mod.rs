//! Human-readable reasons why instances run or are skipped.
//!
//! A plan stores only a [`crate::Verdict`] per instance. The explanation is computed on request: the
//! condition is decomposed until the deciding part is found, and if that part compares states, the
//! differences between them are listed. [`Reasons`] holds the explanations of a whole plan, deduplicated.

mod decide;
mod differences;
mod explain;
mod of_plan;
mod secrets;

pub use differences::Difference;
pub(crate) use differences::{DiffSource, differences};
pub use explain::{Explainer, Explanation};
pub use of_plan::Reasons;
