//! Restores the session from the journal after a restart of the agent.

use std::collections::BTreeSet;

use stoker_model::{Micros, TaskReport};

use super::super::{AttemptKey, ResultKind};
use super::journal::{Contents, JournalState, Record};
use super::machine::{AgentSession, Outputs, State};
use super::messages::{AgentLimits, Identity};

impl AgentSession {
    /// Restores an agent from its journal. `alive` are attempts whose processes survived the previous agent
    /// and whose exit the new agent will observe; all other started attempts are interrupted.
    pub fn restore(
        identity: Identity,
        limits: AgentLimits,
        journal: impl IntoIterator<Item = Record>,
        alive: &BTreeSet<AttemptKey>,
        now: Micros,
    ) -> (Self, Outputs) {
        let contents = Contents::read(journal);
        let mut session = Self::new(identity, limits);
        session.n_records = contents.n_records;
        session.generations = contents.generations;
        let mut outputs = Outputs::new();
        let mut interrupted = Vec::new();
        for (key, journaled) in contents.attempts {
            let state = match journaled {
                JournalState::Accepted if alive.contains(&key) => State::Running { since: now },
                JournalState::Accepted => {
                    interrupted.push(key);
                    continue;
                }
                JournalState::Ended(finished) => {
                    session.n_unacknowledged += 1;
                    State::Ended { finished: Box::new(finished), is_durable: true }
                }
                JournalState::Acknowledged => State::Acknowledged,
            };
            session.attempts.insert(key, state);
        }
        for key in interrupted {
            session.end(key, ResultKind::Interrupted, TaskReport::default(), now, &mut outputs);
        }
        session.ended_runs = contents.ended_runs;
        session.compact(&mut outputs);
        (session, outputs)
    }
}
