//! A plan as bytes: written once, read back exactly.
//!
//! The form is JSON with its version inside, compressed. What there is of each instance is kept in columns, as runs:
//! neighbours are alike, so that a plan of a million instances is a few kilobytes beside its parameters and reasons. The
//! same plan gives the same bytes.
//!
//! Bytes are read with suspicion. Whatever they are, reading them ends with a plan whose numbers all lead somewhere or
//! with an error, and takes no more memory than [`Bounds`] allow. Whether the plan makes sense is not asked here.

mod columns;
mod document;
mod order;
#[cfg(test)]
mod tests;

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use crate::input::PlanningInput;
use crate::plan::Plan;
use crate::problem::{Excluded, Problem, Report};
use crate::reasons::Reasons;
use document::Document;

/// A plan with everything that is told about it.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedPlan {
    pub plan: Plan,
    pub reasons: Reasons,
    /// Warnings: with an error there is no plan.
    pub problems: Vec<Problem>,
    /// Nodes that take no part, and why.
    pub excluded: Vec<Excluded>,
}

impl ExplainedPlan {
    /// Explains a plan that was made from this input, with this report.
    pub fn new(input: &PlanningInput<'_>, plan: Plan, report: Report) -> Self {
        let reasons = Reasons::new(input, &plan);
        Self { plan, reasons, problems: report.problems, excluded: report.excluded }
    }
}

/// Why bytes are no plan.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    #[error("the stored plan cannot be read: {0}")]
    Compression(#[from] std::io::Error),
    #[error("the stored plan is larger than {0} bytes")]
    TooLarge(u64),
    #[error("the stored plan cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the stored plan has version {0}, and only {VERSION} is known here; a newer program wrote it")]
    Version(u32),
    #[error("the stored plan is damaged: {0}")]
    Damaged(&'static str),
}

const VERSION: u32 = 1;

/// How large a plan may become, at most, that is read from bytes: runs can say much in little.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Uncompressed.
    pub(crate) bytes: u64,
    /// Instances, and places where sets of them meet.
    pub(crate) vertices: usize,
    pub(crate) edges: usize,
}

/// Several times what the largest fleet needs.
const BOUNDS: Bounds = Bounds { bytes: 256 << 20, vertices: 16 << 20, edges: 48 << 20 };

/// The bytes of a plan.
pub fn encode(explained: &ExplainedPlan) -> Vec<u8> {
    let document = Document::of(explained);
    // Fast: what repeats most has become runs already, and the rest is text.
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    // Neither can fail: the document is plain data, and a vector takes every byte.
    let text = serde_json::to_vec(&document).unwrap_or_default();
    _ = encoder.write_all(&text);
    encoder.finish().unwrap_or_default()
}

/// The plan that bytes are.
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
