//! Location of a problem.

use std::ops::Range;
use std::sync::Arc;

use crate::span::Span;

/// The location of a problem: in a text, in a document, in a graph. Parts that are unknown or do not apply are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// Name of the file; `None` means the text that the caller passed.
    pub file: Option<String>,
    pub span: Option<Span>,
    /// Text of the file, for excerpts; set by callers that render excerpts.
    pub text: Option<Arc<str>>,
    /// Path in the document, such as `tasks[3].requires[0]`, or inside `task`, such as `requires[0]`; empty
    /// means the whole document or task.
    pub path: String,
    pub task: Option<String>,
    /// Affected nodes, in order; empty if the problem does not depend on nodes.
    pub nodes: Vec<String>,
    /// Affected plugin.
    pub plugin: Option<String>,
    /// The layer that set the field, and its line in the uploaded file.
    pub provenance: Option<ProblemOrigin>,
    /// The expression that failed.
    pub expression: Option<Excerpt>,
}

/// Provenance of a field of a merged graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProblemOrigin {
    /// The layer that set the field: `release`, `cluster`, or `plugin NAME VERSION`.
    pub layer: Option<String>,
    /// Name of the uploaded file.
    pub file: Option<String>,
    /// Line of the field in the uploaded file, counted from 1.
    pub line: Option<u32>,
}

/// A text and the part of it that a diagnostic refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    pub text: String,
    /// Byte range in `text`.
    pub range: Range<usize>,
}

impl Excerpt {
    /// Returns the part as one line; empty if the range is invalid.
    pub fn part(&self) -> String {
        let part = self.text.get(self.range.clone()).unwrap_or_default();
        part.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

impl Location {
    /// Returns the line in the file, counted from 1, or the line in the uploaded file if only the provenance
    /// is known.
    pub fn line(&self) -> Option<u32> {
        let recorded_line = || self.provenance.as_ref().and_then(|provenance| provenance.line);
        self.span.map(|span| span.start.line).or_else(recorded_line)
    }

    /// Returns the column in the line, counted from 1.
    pub fn column(&self) -> Option<u32> {
        self.span.map(|span| span.start.column)
    }
}
