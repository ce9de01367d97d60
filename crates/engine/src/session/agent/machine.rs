//! The machine itself.

use std::collections::{BTreeMap, BTreeSet};

use stoker_model::{JsonMap, Micros, RunId};

use super::super::{Attempt, AttemptKey, CancelHow, End, Finished, FromAgent, Generation, ToAgent};
use super::interface::{Identity, Input, Limits, Output};
use super::journal::{Record, instance_keys, run_keys};

/// An attempt that is not forgotten.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum State {
    /// The promise is being written. Nothing has begun.
    Accepting {
        attempt: Box<Attempt>,
        is_cancelled: bool,
    },
    /// An older attempt of the instance has to end first.
    Waiting {
        attempt: Box<Attempt>,
    },
    Running {
        since: Micros,
    },
    /// The end is being written; nobody was told yet.
    Ending {
        finished: Box<Finished>,
    },
    /// It was told, or will be with the next connection.
    Ended {
        finished: Box<Finished>,
        is_durable: bool,
    },
    Acknowledged,
}

/// The agent's side of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentSession {
    pub(super) identity: Identity,
    pub(super) limits: Limits,
    pub(super) is_connected: bool,
    pub(super) attempts: BTreeMap<AttemptKey, State>,
    /// The highest generation heard of each run.
    pub(super) generations: BTreeMap<RunId, Generation>,
    /// Runs that are over, of which something is still owed to the server.
    pub(super) ending_runs: BTreeSet<RunId>,
    /// Runs that are over and forgotten but for their number.
    pub(super) ended_runs: BTreeSet<RunId>,
    pub(super) n_unacknowledged: usize,
    pub(super) next_seq: u64,
    /// Writes that an attempt waits for.
    pub(super) writing: BTreeMap<u64, AttemptKey>,
    /// Lines in the journal, as far as it was asked to write them.
    pub(super) n_records: usize,
    /// The last write of the whole journal, while it is under way.
    pub(super) rewrite: Option<u64>,
}

pub(super) type Outputs = Vec<Output>;

impl AgentSession {
    /// An agent with an empty journal.
    pub fn new(identity: Identity, limits: Limits) -> Self {
        Self {
            identity,
            limits,
            is_connected: false,
            attempts: BTreeMap::new(),
            generations: BTreeMap::new(),
            ending_runs: BTreeSet::new(),
            ended_runs: BTreeSet::new(),
            n_unacknowledged: 0,
            next_seq: 0,
            writing: BTreeMap::new(),
            n_records: 0,
            rewrite: None,
        }
    }

    /// What is to be done about something that happened.
    pub fn step(&mut self, input: Input, now: Micros) -> Outputs {
        let mut outputs = Outputs::new();
        match input {
            Input::Connected { facts } => self.connected(facts, &mut outputs),
            Input::Disconnected => self.is_connected = false,
            Input::Message(message) => self.message(message, now, &mut outputs),
            Input::Written { seq } => self.written(seq, now, &mut outputs),
            Input::WriteFailed { seq, message } => self.write_failed(seq, &message, now, &mut outputs),
            Input::Exited { key, end, summary } => self.exited(key, end, summary, now, &mut outputs),
        }
        self.compact(&mut outputs);
        outputs
    }

    /// What runs now, or will as soon as it may.
    pub fn running(&self) -> impl Iterator<Item = AttemptKey> {
        let is_open = |state: &State| !matches!(state, State::Ended { .. } | State::Acknowledged);
        self.attempts.iter().filter(move |(_, state)| is_open(state)).map(|(key, _)| *key)
    }

    /// How many ends no server has acknowledged.
    pub fn n_unacknowledged(&self) -> usize {
        self.n_unacknowledged
    }

    fn message(&mut self, message: ToAgent, now: Micros, outputs: &mut Outputs) {
        match message {
            ToAgent::Welcome { heartbeat_ms } => outputs.push(Output::HeartbeatEvery { ms: heartbeat_ms }),
            ToAgent::Start(Attempt { key, .. }) if self.is_forgotten(key.run) => {
                // Whoever still has such a run has to know why nothing happens.
                self.send(
                    refusal(key, now, "so many later runs have ended that this one must have, too"),
                    outputs,
                );
            }
            ToAgent::Start(attempt) => {
                if self.listens_to(attempt.key.run, attempt.generation, outputs) {
                    self.start(attempt, now, outputs);
                }
            }
            ToAgent::Cancel { key, generation, how } => {
                if self.listens_to(key.run, generation, outputs) {
                    self.cancel(key, how, now, outputs);
                }
            }
            ToAgent::Acknowledge { keys } => {
                for key in keys {
                    self.acknowledged(key, outputs);
                }
            }
            ToAgent::RunEnded { run } => self.run_ended(run, outputs),
        }
    }

    /// Whether whoever speaks still has the run, and the run is not over.
    fn listens_to(&mut self, run: RunId, generation: Generation, outputs: &mut Outputs) -> bool {
        let why = if self.is_over(run) {
            "the run has ended"
        } else if self.generations.get(&run).is_some_and(|highest| generation < *highest) {
            "another server has the run"
        } else {
            self.generations.insert(run, generation);
            return true;
        };
        outputs.push(Output::Ignored { run, why });
        false
    }

    fn is_over(&self, run: RunId) -> bool {
        self.ended_runs.contains(&run) || self.ending_runs.contains(&run) || self.is_forgotten(run)
    }

    /// Runs older than every one that is remembered to have ended, and not known otherwise, ended long ago.
    fn is_forgotten(&self, run: RunId) -> bool {
        self.ended_runs.len() >= self.limits.n_ended_runs_max
            && self.ended_runs.first().is_some_and(|oldest| run < *oldest)
            && !self.generations.contains_key(&run)
    }

    fn start(&mut self, attempt: Attempt, now: Micros, outputs: &mut Outputs) {
        let key = attempt.key;
        if let Some(state) = self.attempts.get(&key) {
            let again = match state {
                State::Running { since } => Some(FromAgent::Started { key, at: *since }),
                State::Ended { finished, .. } => Some(FromAgent::Finished((**finished).clone())),
                State::Acknowledged => {
                    Some(refusal(key, now, "this attempt was carried out before, and its end acknowledged"))
                }
                State::Accepting { .. } | State::Waiting { .. } | State::Ending { .. } => None,
            };
            if let Some(message) = again {
                self.send(message, outputs);
            }
            return;
        }
        if self.newest(key).is_some_and(|newest| newest.attempt > key.attempt) {
            self.send(refusal(key, now, "a later attempt of the same task was sent before it"), outputs);
            return;
        }
        if self.n_unacknowledged >= self.limits.n_unacknowledged_max {
            // Remembered, because the same message may come again when there is room, and the server has moved on by then.
            let end = End::Refused { message: "too many results wait to be acknowledged".to_owned() };
            self.report(Box::new(Finished { key, at: now, end, summary: JsonMap::new() }), false, outputs);
            return;
        }
        let older = self.attempts.range(instance_keys(key)).filter(|(_, state)| {
            !matches!(state, State::Ended { .. } | State::Acknowledged | State::Ending { .. })
        });
        let older: Vec<AttemptKey> = older.map(|(key, _)| *key).collect();
        if older.is_empty() {
            self.accept(attempt, outputs);
            return;
        }
        // Whoever sends a new attempt has given up on the old one; both at once would be two effects.
        self.attempts.insert(key, State::Waiting { attempt: Box::new(attempt) });
        for key in older {
            self.cancel(key, CancelHow::Now, now, outputs);
        }
    }

    fn accept(&mut self, attempt: Attempt, outputs: &mut Outputs) {
        let key = attempt.key;
        let record = Record::Accepted { key, generation: attempt.generation };
        self.write_for(key, record, outputs);
        let state = State::Accepting { attempt: Box::new(attempt), is_cancelled: false };
        self.attempts.insert(key, state);
    }

    fn cancel(&mut self, key: AttemptKey, how: CancelHow, now: Micros, outputs: &mut Outputs) {
        let is_superseded = self.newest(key).is_some_and(|newest| newest.attempt > key.attempt);
        match self.attempts.get_mut(&key) {
            // It ended and was acknowledged, or will never be begun.
            None if is_superseded => {}
            Some(State::Accepting { is_cancelled, .. }) => *is_cancelled = true,
            Some(State::Running { .. }) if how == CancelHow::Now => outputs.push(Output::Kill(key)),
            Some(State::Running { .. } | State::Ending { .. } | State::Acknowledged) => {}
            Some(State::Ended { finished, .. }) => {
                let again = FromAgent::Finished((**finished).clone());
                self.send(again, outputs);
            }
            // Also what was never heard of: it may still be on its way, and must not be begun then.
            Some(State::Waiting { .. }) | None => {
                self.end(key, End::Cancelled, JsonMap::new(), now, outputs);
            }
        }
    }

    fn exited(&mut self, key: AttemptKey, end: End, summary: JsonMap, now: Micros, outputs: &mut Outputs) {
        if matches!(self.attempts.get(&key), Some(State::Running { .. })) {
            self.end(key, end, summary, now, outputs);
            self.next_attempt(key, outputs);
        } else {
            outputs.push(Output::Ignored { run: key.run, why: "what has exited was not running" });
        }
    }

    /// Lets the newest attempt of an instance begin if it has waited for this one.
    fn next_attempt(&mut self, ended: AttemptKey, outputs: &mut Outputs) {
        let Some(newest) = self.newest(ended) else { return };
        if let Some(State::Waiting { attempt }) = self.attempts.get(&newest) {
            let attempt = (**attempt).clone();
            self.accept(attempt, outputs);
        }
    }

    pub(super) fn end(
        &mut self,
        key: AttemptKey,
        end: End,
        summary: JsonMap,
        now: Micros,
        outputs: &mut Outputs,
    ) {
        let finished = Finished { key, at: now, end, summary };
        self.write_for(key, Record::Ended(finished.clone()), outputs);
        self.attempts.insert(key, State::Ending { finished: Box::new(finished) });
    }

    fn written(&mut self, seq: u64, now: Micros, outputs: &mut Outputs) {
        if self.rewrite == Some(seq) {
            self.rewrite = None;
        }
        let Some(key) = self.writing.remove(&seq) else { return };
        match self.attempts.remove(&key) {
            Some(State::Accepting { is_cancelled: true, .. }) => {
                self.end(key, End::Cancelled, JsonMap::new(), now, outputs);
                self.next_attempt(key, outputs);
            }
            Some(State::Accepting { attempt, .. }) => {
                self.attempts.insert(key, State::Running { since: now });
                outputs.push(Output::Start(*attempt));
                self.send(FromAgent::Started { key, at: now }, outputs);
            }
            Some(State::Ending { finished, .. }) => self.report(finished, true, outputs),
            _ => {}
        }
    }

    fn write_failed(&mut self, seq: u64, message: &str, now: Micros, outputs: &mut Outputs) {
        if self.rewrite == Some(seq) {
            self.rewrite = None;
            // Not at once again: when as much has been written once more.
            self.n_records = 0;
        }
        let Some(key) = self.writing.remove(&seq) else { return };
        match self.attempts.remove(&key) {
            Some(State::Accepting { .. }) => {
                let message = format!("the agent cannot write its journal: {message}");
                let finished =
                    Finished { key, at: now, end: End::Refused { message }, summary: JsonMap::new() };
                self.report(Box::new(finished), false, outputs);
                self.next_attempt(key, outputs);
            }
            Some(State::Ending { finished, .. }) => self.report(finished, false, outputs),
            _ => {}
        }
    }

    fn report(&mut self, finished: Box<Finished>, is_durable: bool, outputs: &mut Outputs) {
        let key = finished.key;
        self.send(FromAgent::Finished((*finished).clone()), outputs);
        self.n_unacknowledged += 1;
        self.attempts.insert(key, State::Ended { finished, is_durable });
    }

    fn acknowledged(&mut self, key: AttemptKey, outputs: &mut Outputs) {
        let Some(state @ State::Ended { .. }) = self.attempts.get_mut(&key) else { return };
        *state = State::Acknowledged;
        self.n_unacknowledged -= 1;
        // Nothing waits for this record: without it the end is reported once more, which does no harm.
        self.write(Record::Acknowledged { key }, outputs);
        if self.newest(key) != Some(key) {
            self.attempts.remove(&key);
        }
        self.forget(key.run, outputs);
    }

    fn run_ended(&mut self, run: RunId, outputs: &mut Outputs) {
        if self.ended_runs.contains(&run) {
            return;
        }
        self.ending_runs.insert(run);
        for (key, state) in self.attempts.range_mut(run_keys(run)) {
            match state {
                State::Running { .. } => outputs.push(Output::Kill(*key)),
                State::Accepting { is_cancelled, .. } => *is_cancelled = true,
                _ => {}
            }
        }
        self.attempts.retain(|key, state| key.run != run || !matches!(state, State::Waiting { .. }));
        self.forget(run, outputs);
    }

    /// A run that is over, and of which nothing is owed, leaves only its number.
    fn forget(&mut self, run: RunId, outputs: &mut Outputs) {
        let is_paid = |state: &State| matches!(state, State::Acknowledged);
        if !self.ending_runs.contains(&run)
            || !self.attempts.range(run_keys(run)).all(|(_, state)| is_paid(state))
        {
            return;
        }
        self.ending_runs.remove(&run);
        self.attempts.retain(|key, _| key.run != run);
        self.generations.remove(&run);
        self.ended_runs.insert(run);
        while self.ended_runs.len() > self.limits.n_ended_runs_max {
            self.ended_runs.pop_first();
        }
        self.write(Record::RunEnded { run }, outputs);
    }

    fn newest(&self, key: AttemptKey) -> Option<AttemptKey> {
        self.attempts.range(instance_keys(key)).next_back().map(|(key, _)| *key)
    }

    fn send(&self, message: FromAgent, outputs: &mut Outputs) {
        if self.is_connected {
            outputs.push(Output::Send(message));
        }
    }
}

fn refusal(key: AttemptKey, at: Micros, message: &str) -> FromAgent {
    let end = End::Refused { message: message.to_owned() };
    FromAgent::Finished(Finished { key, at, end, summary: JsonMap::new() })
}
