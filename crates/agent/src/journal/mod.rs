//! Write-ahead journal of an agent.
//!
//! A file of records, each with its length and a checksum. An incomplete record at the end is the result of a
//! crash during a write and is truncated. Accepting an attempt is synced before it is acknowledged to the
//! server; accepts that are pending together share one sync. Results are synced shortly after they are
//! written, normally together with the next accept.

mod file;
mod identity;
mod writer;

pub use file::{JournalError, JournalFile};
pub(crate) use writer::{Job, ReplyTo, SYNCS, WriteError, WriteOutcome, Writer};
