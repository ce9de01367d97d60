//! Content-addressed storage of state documents.
//!
//! Documents and their large pieces are identified by a digest of their content, so unchanged content is
//! stored once. A new state of a fleet takes only the space of its difference to earlier states.

mod collect;
mod pieces;
mod read;
mod write;

pub use collect::GcStats;
pub use pieces::StateDocument;
