//! Fingerprints of what a task succeeded with: its definition as written, and its inputs as rendered.

mod definition;
mod inputs;
mod unknown;

pub use definition::source_digests;
pub(crate) use definition::{redefinition_text, redefinitions};
pub use inputs::{inputs_digest, inputs_document, inputs_of};
pub use unknown::unknown_definitions;

/// Parameters that decide when and how often a task runs, not what it does.
const SCHEDULING: &[&str] = &["interval", "retries", "retry_interrupted", "strategy", "timeout"];
