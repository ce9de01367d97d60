//! What is on the disk of an agent.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use stoker_model::RunId;

use super::super::{AttemptKey, End, Finished, Generation};

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

/// When a record has to be where a loss of power leaves it. The death of the agent alone leaves everything that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Safe {
    /// Before [`Input::Written`](super::Input::Written) is said of it, and with it everything that was written before.
    First,
    /// A moment after that.
    Soon,
    /// At any time.
    Whenever,
}

impl Record {
    pub fn safe(&self) -> Safe {
        match self {
            // Or it could be begun a second time.
            Self::Accepted { .. } => Safe::First,
            // Perhaps nothing else keeps it from being begun when it comes late.
            Self::Ended(finished) if finished.end == End::Cancelled => Safe::First,
            // The server is told meanwhile. If power is lost before either has it, the attempt was interrupted for all that
            // anybody can say: neither is it certain that what it wrote is on the disk.
            Self::Ended(_) => Safe::Soon,
            // Without them something is told twice, which does no harm.
            Self::Acknowledged { .. } | Self::RunEnded { .. } => Safe::Whenever,
        }
    }
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
