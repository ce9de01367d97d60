//! Binary encoding of explained plans; decoding restores them exactly.
//!
//! The format is versioned JSON, zlib-compressed. Per-instance data is stored in run-length-encoded columns:
//! adjacent instances are alike, so a plan of a million instances takes a few kilobytes besides its
//! parameters and reasons. The encoding is deterministic: equal plans give equal bytes.
//!
//! The input of decoding is untrusted. Decoding any bytes either fails or gives a plan whose indices are all
//! in range, and uses no more memory than [`Bounds`] allow. Semantic checks of the plan are in `check/`.

mod columns;
mod document;
mod order;
#[cfg(test)]
mod tests;

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use stoker_diagnostics::Diagnostic;

use crate::input::PlanningInput;
use crate::plan::Plan;
use crate::reasons::Reasons;
use crate::report::{ExcludedNode, PlanningReport, is_beside_plan};
use document::Document;
pub(crate) use document::StoredProblem;

/// A plan with its reasons and warnings.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedPlan {
    pub plan: Plan,
    pub reasons: Reasons,
    /// Warnings only: planning with errors gives no plan.
    pub problems: Vec<Diagnostic>,
    /// Excluded nodes, with the reason.
    pub excluded: Vec<ExcludedNode>,
}

impl ExplainedPlan {
    /// Explains a plan that was created from this input with this report.
    /// Warnings that are stored beside the plan are in [`crate::PlanExtras`].
    pub fn new(input: &PlanningInput<'_>, plan: Plan, mut report: PlanningReport) -> Self {
        let reasons = Reasons::new(input, &plan);
        report.problems.retain(|problem| !is_beside_plan(problem));
        Self { plan, reasons, problems: report.problems, excluded: report.excluded }
    }
}

/// Why bytes cannot be decoded as a plan.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    #[error("cannot decode the stored plan: {0}")]
    Compression(#[from] std::io::Error),
    #[error("the stored plan is larger than {0} bytes")]
    TooLarge(u64),
    #[error("cannot decode the stored plan: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the stored plan has format version {0}, but this version of Stoker supports only {VERSION}")]
    Version(u32),
    #[error("the stored plan is corrupt: {0}")]
    Damaged(&'static str),
}

const VERSION: u32 = 1;

/// Limits of a decoded plan: short runs can expand to much data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Uncompressed size.
    pub(crate) bytes: u64,
    /// Instances and junction vertices.
    pub(crate) vertices: usize,
    pub(crate) edges: usize,
}

/// Several times the size of a plan for the largest supported fleet.
const BOUNDS: Bounds = Bounds { bytes: 256 << 20, vertices: 16 << 20, edges: 48 << 20 };

/// Encodes a plan.
pub fn encode(explained: &ExplainedPlan) -> Vec<u8> {
    let document = Document::of(explained);
    // Fast compression suffices: the most repetitive data is run-length encoded already, and the rest is
    // text.
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    // Neither step can fail: the document is plain data, and writing to a vector does not fail.
    let text = serde_json::to_vec(&document).unwrap_or_default();
    _ = encoder.write_all(&text);
    encoder.finish().unwrap_or_default()
}

/// Decodes a plan.
pub fn decode(bytes: &[u8]) -> Result<ExplainedPlan, DecodeError> {
    decode_within(bytes, &BOUNDS)
}

fn decode_within(bytes: &[u8], bounds: &Bounds) -> Result<ExplainedPlan, DecodeError> {
    let mut text = Vec::new();
    ZlibDecoder::new(bytes).take(bounds.bytes + 1).read_to_end(&mut text)?;
    if text.len() as u64 > bounds.bytes {
        return Err(DecodeError::TooLarge(bounds.bytes));
    }
    let version: document::Version = serde_json::from_slice(&text)?;
    if version.version != VERSION {
        return Err(DecodeError::Version(version.version));
    }
    let document: Document<'_> = serde_json::from_slice(&text)?;
    document.into_explained(bounds)
}
