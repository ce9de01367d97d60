//! What an agent must not forget, on disk.
//!
//! A file of records, each with its length and a checksum. Whatever is behind the last whole record was being written when the
//! machine went down, and is cut off. Records that somebody waits for are synced before they are answered; several that wait
//! at the same time share one sync.

mod file;
mod writer;

pub use file::{JournalError, JournalFile};
pub(crate) use writer::{Answer, Job, Writer};
