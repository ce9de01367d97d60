//! What an agent makes of its journal when it starts again.

use std::collections::BTreeSet;

use stoker_model::{JsonMap, Micros};

use super::super::{AttemptKey, End};
use super::interface::{Identity, Limits};
use super::journal::{Contents, Known, Record};
use super::machine::{AgentSession, Outputs, State};

impl AgentSession {
    /// An agent that starts again. `alive` are attempts whose processes outlived the former agent and whose end this one
    /// will see; all others that were begun are interrupted.
    pub fn restarted(
        identity: Identity,
        limits: Limits,
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
        for (key, known) in contents.attempts {
            let state = match known {
                Known::Accepted if alive.contains(&key) => State::Running { since: now },
                Known::Accepted => {
                    interrupted.push(key);
                    continue;
                }
                Known::Ended(finished) => {
                    session.n_unacknowledged += 1;
                    State::Ended { finished: Box::new(finished), is_durable: true }
                }
                Known::Acknowledged => State::Acknowledged,
            };
            session.attempts.insert(key, state);
        }
        for key in interrupted {
            session.end(key, End::Interrupted, JsonMap::new(), now, &mut outputs);
        }
        session.ended_runs = contents.ended_runs;
        session.compact(&mut outputs);
        (session, outputs)
    }
}
