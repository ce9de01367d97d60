//! Why instances run or are skipped, in words.
//!
//! A plan keeps one word for each instance. The sentence behind it is worked out when somebody asks: the condition is
//! taken apart until the part is found that decided, and where that part compares states, what differs between them.

mod decide;
mod differences;
mod explain;
mod secrets;

pub use differences::Difference;
pub use explain::{Explainer, Explanation};
