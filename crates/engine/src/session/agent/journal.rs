//! Journal of an agent.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use stoker_model::{InstanceIdx, RunId};

use super::super::{AttemptKey, AttemptResult, Generation, ResultKind};

/// One journal record. Later records supersede earlier ones with the same key.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// The attempt is about to start.
    Accepted { key: AttemptKey, generation: Generation },
    /// The attempt ended; the result must be reported to the server.
    Ended(AttemptResult),
    /// The server has acknowledged the result.
    Acknowledged { key: AttemptKey },
    /// The run is over; none of its attempts may start.
    RunEnded { run: RunId },
}

/// Point at which a record must survive power loss. A crash of the agent alone loses nothing that was
/// written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Fsync before [`Input::Written`](super::Input::Written), which also covers all earlier writes.
    BeforeAck,
    /// Fsync shortly after.
    Deferred,
    /// The record needs no fsync.
    NotRequired,
}

impl Record {
    pub fn durability(&self) -> Durability {
        match self {
            // Without an fsync the attempt could start twice after a power loss.
            Self::Accepted { .. } => Durability::BeforeAck,
            // This record may be the only protection against starting the attempt when its start message
            // arrives late.
            Self::Ended(finished) if finished.end == ResultKind::Cancelled => Durability::BeforeAck,
            // The result is sent to the server meanwhile. If power is lost before it is stored on either
            // side, the attempt counts as interrupted. This is correct, because disk writes of the task may
            // be lost too.
            Self::Ended(_) => Durability::Deferred,
            // Losing them only causes a duplicate report, which is deduplicated.
            Self::Acknowledged { .. } | Self::RunEnded { .. } => Durability::NotRequired,
        }
    }
}

/// State of an attempt according to the journal.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum JournalState {
    Accepted,
    Ended(AttemptResult),
    Acknowledged,
}

/// Replayed contents of a journal.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Contents {
    pub(super) attempts: BTreeMap<AttemptKey, JournalState>,
    pub(super) generations: BTreeMap<RunId, Generation>,
    pub(super) ended_runs: BTreeSet<RunId>,
    pub(super) n_records: usize,
}

impl Contents {
    pub(super) fn read(records: impl IntoIterator<Item = Record>) -> Self {
        let mut contents = Self::default();
        for record in records {
            contents.n_records += 1;
            contents.apply(record);
        }
        contents
    }

    fn apply(&mut self, record: Record) {
        match record {
            Record::Accepted { key, generation } => {
                self.attempts.insert(key, JournalState::Accepted);
                let highest = self.generations.entry(key.run).or_default();
                *highest = generation.max(*highest);
            }
            Record::Ended(finished) => {
                self.attempts.insert(finished.key, JournalState::Ended(finished));
            }
            Record::Acknowledged { key } => {
                self.attempts.insert(key, JournalState::Acknowledged);
            }
            Record::RunEnded { run } => {
                self.attempts.retain(|key, _| key.run != run);
                self.generations.remove(&run);
                self.ended_runs.insert(run);
            }
        }
    }
}

/// Returns the key range of all attempts of an instance.
pub(super) fn instance_keys(key: AttemptKey) -> RangeInclusive<AttemptKey> {
    AttemptKey { attempt: 0, ..key }..=AttemptKey { attempt: u32::MAX, ..key }
}

/// Returns the key range of all attempts of a run.
pub(super) fn run_keys(run: RunId) -> RangeInclusive<AttemptKey> {
    let key = |instance, attempt| AttemptKey { run, instance: InstanceIdx::new(instance), attempt };
    key(0, 0)..=key(u32::MAX, u32::MAX)
}
