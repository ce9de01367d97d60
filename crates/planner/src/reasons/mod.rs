//! Why instances run or are skipped, in words.
//!
//! A plan keeps one word for each instance. The sentence behind it is worked out when somebody asks: the condition is
//! taken apart until the part is found that decided, and where that part compares states, what differs between them.
//! [`Reasons`] are those of a whole plan, each sentence once.

mod decide;
mod differences;
mod explain;
mod of_plan;
mod secrets;

pub use differences::Difference;
pub(crate) use differences::{Told, differences};
pub use explain::{Explainer, Explanation};
pub use of_plan::Reasons;
pub use secrets::is_secret;
