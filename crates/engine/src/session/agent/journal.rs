//! What is on the disk of an agent.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use stoker_model::RunId;

use super::super::{AttemptKey, Finished, Generation};

/// One line of the journal. A journal is read from its beginning; later lines are about the same keys as earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// It will be begun now.
    Accepted { key: AttemptKey, generation: Generation },
    /// This is how it ended, and the server has to be told.
    Ended(Finished),
    /// The server knows.
    Acknowledged { key: AttemptKey },
    /// The run is over; nothing of it is begun any more.
    RunEnded { run: RunId },
}

/// An attempt as the journal knows it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Known {
    Accepted,
    Ended(Finished),
    Acknowledged,
}

/// What a journal says when it was read to its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Contents {
    pub(super) attempts: BTreeMap<AttemptKey, Known>,
    pub(super) generations: BTreeMap<RunId, Generation>,
    pub(super) ended_runs: BTreeSet<RunId>,
    pub(super) n_records: usize,
}

impl Contents {
    pub(super) fn read(records: impl IntoIterator<Item = Record>) -> Self {
        let mut contents = Self::default();
        for record in records {
            contents.n_records += 1;
            contents.fold(record);
        }
        contents
    }

    fn fold(&mut self, record: Record) {
        match record {
            Record::Accepted { key, generation } => {
                self.attempts.insert(key, Known::Accepted);
                let highest = self.generations.entry(key.run).or_default();
                *highest = generation.max(*highest);
            }
            Record::Ended(finished) => {
                self.attempts.insert(finished.key, Known::Ended(finished));
            }
            Record::Acknowledged { key } => {
                self.attempts.insert(key, Known::Acknowledged);
            }
            Record::RunEnded { run } => {
                self.attempts.retain(|key, _| key.run != run);
                self.generations.remove(&run);
                self.ended_runs.insert(run);
            }
        }
    }
}

/// All attempts of an instance.
pub(super) fn instance_keys(key: AttemptKey) -> RangeInclusive<AttemptKey> {
    AttemptKey { attempt: 0, ..key }..=AttemptKey { attempt: u32::MAX, ..key }
}

/// All attempts of a run.
pub(super) fn run_keys(run: RunId) -> RangeInclusive<AttemptKey> {
    AttemptKey { run, instance: 0, attempt: 0 }..=AttemptKey { run, instance: u32::MAX, attempt: u32::MAX }
}
