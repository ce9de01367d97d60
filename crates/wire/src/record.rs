//! Encoding of agent journal records. Records outlive the agent version that wrote them.

use serde::{Deserialize, Serialize};
use stoker_engine::session::agent::Record;
use stoker_engine::session::{AttemptKey, Generation};
use stoker_model::RunId;

use crate::codec::{WireError, decode, encode};
use crate::limits::FROM_AGENT_BYTES_MAX;
use crate::shared::{FinishedDto, KeyDto};

/// One entry of a journal.
#[derive(Clone, Debug, PartialEq)]
pub enum JournalEntry {
    /// Session state machine record.
    Session(Record),
    /// A process was started for an attempt.
    Process { key: AttemptKey, pid: i32, started: u64 },
    /// The node reboots as part of an attempt; `boot_id` identifies the boot before the reboot.
    Rebooting { key: AttemptKey, boot_id: String },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum EntryDto {
    Accepted { key: KeyDto, generation: u64 },
    Ended { finished: FinishedDto },
    Acknowledged { key: KeyDto },
    RunEnded { run: i64 },
    Process { key: KeyDto, pid: i32, started: u64 },
    Rebooting { key: KeyDto, boot_id: String },
}

pub fn encode_entry(entry: &JournalEntry) -> String {
    encode(&match entry {
        JournalEntry::Session(Record::Accepted { key, generation }) => {
            EntryDto::Accepted { key: (*key).into(), generation: generation.0 }
        }
        JournalEntry::Session(Record::Ended(finished)) => EntryDto::Ended { finished: finished.into() },
        JournalEntry::Session(Record::Acknowledged { key }) => EntryDto::Acknowledged { key: (*key).into() },
        JournalEntry::Session(Record::RunEnded { run }) => EntryDto::RunEnded { run: run.0 },
        JournalEntry::Process { key, pid, started } => {
            EntryDto::Process { key: (*key).into(), pid: *pid, started: *started }
        }
        JournalEntry::Rebooting { key, boot_id } => {
            EntryDto::Rebooting { key: (*key).into(), boot_id: boot_id.clone() }
        }
    })
}

pub fn decode_entry(text: &str) -> Result<JournalEntry, WireError> {
    Ok(match decode::<EntryDto>(text, FROM_AGENT_BYTES_MAX)? {
        EntryDto::Accepted { key, generation } => {
            JournalEntry::Session(Record::Accepted { key: key.into(), generation: Generation(generation) })
        }
        EntryDto::Ended { finished } => JournalEntry::Session(Record::Ended(finished.into_domain()?)),
        EntryDto::Acknowledged { key } => JournalEntry::Session(Record::Acknowledged { key: key.into() }),
        EntryDto::RunEnded { run } => JournalEntry::Session(Record::RunEnded { run: RunId(run) }),
        EntryDto::Process { key, pid, started } => JournalEntry::Process { key: key.into(), pid, started },
        EntryDto::Rebooting { key, boot_id } => JournalEntry::Rebooting { key: key.into(), boot_id },
    })
}
