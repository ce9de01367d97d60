//! Documents of states, kept in pieces: what did not change is not stored again.
//!
//! A document is known by the digest of its content, and so is each of its large pieces. A new state of a fleet costs as
//! much as it differs from what is there already.

mod collect;
mod pieces;
mod read;
mod write;

pub use collect::Collected;
pub use pieces::StateDocument;
