//! Diagnostics about user input, as data.
//!
//! Every crate that validates input reports [`Diagnostic`]s: the YAML loader, document readers, graph checks, the planner,
//! task types, conditions, plugin packages, the command line and the REST API. A diagnostic has a stable code, a
//! severity, a [`Location`], notes and a hint. [`Diagnostics`] collects them up to a limit.
//!
//! Codes are defined in the `codes` module of the crate that reports them; `docs/error-codes.md` lists all of them.
//! This crate does no I/O and renders no source excerpts; the command line does.

mod collector;
mod diagnostic;
mod location;
mod quote;
mod span;
mod summary;

pub use collector::{Diagnostics, Mark, codes};
pub use diagnostic::{Diagnostic, DiagnosticNote, Severity, has_errors, sort};
pub use location::{Excerpt, Location, ProblemOrigin};
pub use quote::{choices, quoted};
pub use span::{Position, Span};
pub use summary::{list, summarize};
