//! YAML as `PyYAML`'s safe loader reads it (YAML 1.1), with the place of every node.
//!
//! [`load`] turns text into [`Document`]s plus a list of [`Problem`]s. It never stops at the first
//! mistake when it can go on: an unknown tag or a duplicate key costs one problem and the rest of
//! the document is still read; a syntax error costs its document and the next one is still read.
//! Whoever wants "all or nothing" asks [`Loaded::has_errors`].
//!
//! The crate owns the meaning of YAML text and nothing else: it opens no file, draws no message
//! and knows no schema. Hostile text is bounded by [`Limits`].
//!
//! Where the answer differs on purpose from `PyYAML`:
//!
//! * `!!binary` is refused, for there is no place for bytes in JSON-like data;
//! * `!!set` is a mapping to nulls, an item of `!!omap` or `!!pairs` is a sequence of two;
//! * a node that contains itself is refused instead of built;
//! * integers longer than 4300 characters are refused in every base, not only in decimal;
//! * a scalar tag on a mapping with the key `=` is refused.
//!
//! Where the parser follows YAML 1.2 instead:
//!
//! * NEL, LS and PS are characters, not line breaks;
//! * names of anchors may hold any character but brackets, commas and blanks: `*name:` reads the
//!   colon as part of the name, and says so;
//! * a block of text that is a whole document may start at the first column;
//! * tabs may separate tokens, an empty key may be left out before its colon, and `...` may stand
//!   before the first document; the reference refuses all three;
//! * `[-]`, `{a:[]}` and a `#` right after a bracket are errors; the reference accepts them.
//!
//! The [`emit`] module writes such data back. The [`json`] module reads JSON, strictly, into the same tree.

mod position;
mod timestamp;

mod node;

mod limits;
mod problem;

mod construct;
mod resolve;
mod tag;

mod frame;
mod loader;
mod mapping;
mod source;
mod syntax;

mod place;

pub mod emit;
pub mod json;

pub use limits::Limits;
pub use loader::{Loaded, load};
pub use node::{Document, Node, NodeKind, Scalar};
pub use num_bigint::BigInt;
pub use place::place_in;
pub use position::{Position, Span};
pub use problem::{Problem, Severity, codes};
pub use timestamp::{Date, Time, Timestamp};
