//! What an agent must not forget, on disk.
//!
//! A file of records, each with its length and a checksum. Whatever is behind the last whole record was being written when the
//! machine went down, and is cut off. A promise to carry something out is synced before it is answered, and several that wait
//! at the same time share one sync; an end is synced a moment later, with the next promise as a rule.

mod file;
mod writer;

pub use file::{JournalError, JournalFile};
pub(crate) use writer::{Answer, Job, Safe, Writer};
