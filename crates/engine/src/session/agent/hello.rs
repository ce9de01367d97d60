//! Reconnect: the agent reports everything that the server may not know.

use std::collections::BTreeSet;

use stoker_model::{JsonMap, RunId};

use super::super::{FromAgent, Hello};
use super::journal::Record;
use super::machine::{AgentSession, Outputs, State};
use super::messages::Output;

impl AgentSession {
    pub(super) fn handle_connected(&mut self, facts: JsonMap, outputs: &mut Outputs) {
        self.is_connected = true;
        let finished = self.attempts.values().filter_map(|state| match state {
            State::Ended { finished, .. } => Some((**finished).clone()),
            _ => None,
        });
        let finished = finished.collect();
        let mut runs: BTreeSet<RunId> = self.attempts.keys().map(|key| key.run).collect();
        runs.extend(self.generations.keys().chain(&self.ending_runs));
        outputs.push(Output::Send(FromAgent::Hello(Hello {
            node: self.identity.node.clone(),
            version: self.identity.version.clone(),
            running: self.running().collect(),
            finished,
            runs: runs.into_iter().collect(),
            facts,
            journal_id: self.identity.journal_id.clone(),
        })));
        // The earlier message may have been lost with the previous connection.
        for (key, state) in &self.attempts {
            if let State::Running { since } = state {
                outputs.push(Output::Send(FromAgent::Started { key: *key, at: *since }));
            }
        }
        self.retry_failed_writes(outputs);
    }

    /// Retries journal writes of results that failed: the disk may have space again by now.
    fn retry_failed_writes(&mut self, outputs: &mut Outputs) {
        let unwritten = self.attempts.iter().filter_map(|(key, state)| match state {
            State::Ended { finished, is_durable: false } => Some((*key, finished.clone())),
            _ => None,
        });
        for (key, finished) in unwritten.collect::<Vec<_>>() {
            self.write_for(key, Record::Ended((*finished).clone()), outputs);
            self.n_unacknowledged -= 1;
            self.attempts.insert(key, State::Ending { finished });
        }
    }
}
