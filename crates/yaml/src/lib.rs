//! YAML as read by `PyYAML`'s safe loader (YAML 1.1), with source positions for every node.
//!
//! [`load`] parses text into [`Document`]s and a list of diagnostics. It recovers from errors where possible:
//! an unknown tag or a duplicate key is one problem, and the rest of the document is still read; a syntax
//! error discards its document, and the next document is still read. Callers that need all or nothing check
//! [`Loaded::has_errors`].
//!
//! This crate defines the meaning of YAML text. It does no I/O, does not render diagnostics and knows no
//! schema. The cost of hostile input is bounded by [`LoadLimits`].
//!
//! Intentional differences from `PyYAML`:
//!
//! * `!!binary` is rejected, because JSON-like data cannot contain bytes;
//! * `!!set` is a mapping to nulls; an item of `!!omap` or `!!pairs` is a sequence of two nodes;
//! * a node that contains itself is rejected;
//! * integers longer than 4300 characters are rejected in every base, not only in decimal;
//! * a scalar tag on a mapping with the key `=` is rejected.
//!
//! The parser follows YAML 1.2 in these cases:
//!
//! * NEL, LS and PS are characters, not line breaks;
//! * anchor names may contain any characters except brackets, commas and whitespace: in `*name:` the colon is
//!   part of the name, and the problem suggests a fix;
//! * a block scalar that is a whole document may start in the first column;
//! * tabs may separate tokens, an empty key may be omitted before its colon, and `...` may precede the first
//!   document; PyYAML rejects all three;
//! * `[-]`, `{a:[]}` and a `#` directly after a bracket are errors; PyYAML accepts them.
//!
//! The [`emit`] module writes YAML. The [`json`] module parses strict JSON into the same tree.

mod timestamp;

mod node;

mod limits;

mod construct;
mod resolve;
mod tag;

mod frame;
mod loader;
mod mapping;
mod source;
mod syntax;

mod subspan;

pub mod emit;
pub mod json;

pub use limits::LoadLimits;
pub use loader::{Loaded, load};
pub use node::{Document, Node, NodeKind, Scalar};
pub use num_bigint::BigInt;
pub use stoker_diagnostics::{Position, Span};
pub use subspan::locate_in_scalar;
pub use timestamp::{Date, Time, Timestamp};

/// Stable codes of YAML problems.
pub mod codes {
    /// The text is not valid YAML.
    pub const SYNTAX: &str = "yaml-syntax";
    /// A character that YAML does not allow.
    pub const CONTROL_CHARACTER: &str = "yaml-control-character";
    /// An unknown tag, or a tag on the wrong type of node.
    pub const TAG: &str = "yaml-tag";
    /// A scalar that does not match its tag or form.
    pub const VALUE: &str = "yaml-value";
    /// A node that cannot be a key.
    pub const KEY: &str = "yaml-key";
    /// A key occurs twice in a mapping (a warning).
    pub const DUPLICATE_KEY: &str = "yaml-duplicate-key";
    /// A `<<` whose value is not a mapping or a list of mappings.
    pub const MERGE: &str = "yaml-merge";
    /// An undefined or recursive alias, or an anchor defined twice.
    pub const ALIAS: &str = "yaml-alias";
    /// The text exceeds the size, number of nodes or nesting depth allowed by [`crate::LoadLimits`].
    pub const LIMIT: &str = "yaml-limit";
}
