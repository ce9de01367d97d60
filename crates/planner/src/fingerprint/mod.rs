//! Fingerprints of what a task succeeded with: its definition as written, and its inputs as rendered.

mod definition;
mod inputs;
mod steady;

pub use definition::source_digests;
pub(crate) use definition::{Redefinitions, redefinition_text, redefinitions};
pub use inputs::{FileDigests, InputsKey, inputs_digest, inputs_document, inputs_of};
pub(crate) use steady::{ComparedInputs, InstanceNode, TaskInstances, compare_inputs};

/// Parameters that decide when and how often a task runs, not what it does.
const SCHEDULING: &[&str] = &["interval", "retries", "retry_interrupted", "strategy", "timeout"];
