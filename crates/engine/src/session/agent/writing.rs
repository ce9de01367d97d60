//! Journal writes and compaction.

use super::super::AttemptKey;
use super::journal::Record;
use super::machine::{AgentSession, Outputs, State};
use super::messages::Output;

impl AgentSession {
    pub(super) fn write(&mut self, record: Record, outputs: &mut Outputs) -> u64 {
        let seq = self.next_seq;
        self.next_seq += 1;
        self.n_records += 1;
        outputs.push(Output::Write { seq, record });
        seq
    }

    pub(super) fn write_for(&mut self, key: AttemptKey, record: Record, outputs: &mut Outputs) {
        let seq = self.write(record, outputs);
        self.writing.insert(seq, key);
    }

    /// Requests a compacted journal if most of the current journal is obsolete.
    pub(super) fn compact(&mut self, outputs: &mut Outputs) {
        // Most attempts need two records; with a smaller bound a long run would rewrite its journal all the
        // time.
        let n_needed = 2 * self.attempts.len() + self.ended_runs.len();
        if self.rewrite.is_some() || self.n_records <= 2 * n_needed + self.limits.n_slack_records {
            return;
        }
        let records = self.records();
        self.n_records = records.len();
        self.rewrite = Some(self.next_seq);
        outputs.push(Output::Rewrite { seq: self.next_seq, records });
        self.next_seq += 1;
    }

    /// Returns the shortest journal that represents the state of this session.
    fn records(&self) -> Vec<Record> {
        let mut records: Vec<Record> =
            self.ended_runs.iter().map(|run| Record::RunEnded { run: *run }).collect();
        for (key, state) in &self.attempts {
            let generation = self.generations.get(&key.run).copied().unwrap_or_default();
            let accepted = Record::Accepted { key: *key, generation };
            match state {
                State::Waiting { .. } => {}
                State::Accepting { .. } | State::Running { .. } => records.push(accepted),
                State::Ending { finished, .. } | State::Ended { finished, .. } => {
                    records.extend([accepted, Record::Ended((**finished).clone())]);
                }
                State::Acknowledged => records.extend([accepted, Record::Acknowledged { key: *key }]),
            }
        }
        records
    }
}
