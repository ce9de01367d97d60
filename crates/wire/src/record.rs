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
pub enum Entry {
    /// Session state machine record.
    Session(Record),
    /// A process was started for an attempt.
    Process { key: AttemptKey, pid: i32, started: u64 },
    /// The node reboots as part of an attempt; `boot_id` is that of the boot before the reboot.
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

pub fn encode_entry(entry: &Entry) -> String {
    encode(&match entry {
        Entry::Session(Record::Accepted { key, generation }) => {
            EntryDto::Accepted { key: (*key).into(), generation: generation.0 }
        }
        Entry::Session(Record::Ended(finished)) => EntryDto::Ended { finished: finished.into() },
        Entry::Session(Record::Acknowledged { key }) => EntryDto::Acknowledged { key: (*key).into() },
        Entry::Session(Record::RunEnded { run }) => EntryDto::RunEnded { run: run.0 },
        Entry::Process { key, pid, started } => {
            EntryDto::Process { key: (*key).into(), pid: *pid, started: *started }
        }
        Entry::Rebooting { key, boot_id } => {
            EntryDto::Rebooting { key: (*key).into(), boot_id: boot_id.clone() }
        }
    })
}

pub fn decode_entry(text: &str) -> Result<Entry, WireError> {
    Ok(match decode::<EntryDto>(text, FROM_AGENT_BYTES_MAX)? {
        EntryDto::Accepted { key, generation } => {
            Entry::Session(Record::Accepted { key: key.into(), generation: Generation(generation) })
        }
        EntryDto::Ended { finished } => Entry::Session(Record::Ended(finished.into_domain()?)),
        EntryDto::Acknowledged { key } => Entry::Session(Record::Acknowledged { key: key.into() }),
        EntryDto::RunEnded { run } => Entry::Session(Record::RunEnded { run: RunId(run) }),
        EntryDto::Process { key, pid, started } => Entry::Process { key: key.into(), pid, started },
        EntryDto::Rebooting { key, boot_id } => Entry::Rebooting { key: key.into(), boot_id },
    })
}
