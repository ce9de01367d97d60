//! The agent's state machine.

use std::collections::{BTreeMap, BTreeSet};

use stoker_model::{Micros, RunId, TaskReport};

use super::super::{
    Attempt, AttemptKey, AttemptResult, CancelMode, FromAgent, Generation, ResultKind, ToAgent,
};
use super::journal::{Record, instance_keys, run_keys};
use super::messages::{AgentLimits, Identity, Input, Output};

/// State of a retained attempt.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum State {
    /// The acceptance is being journaled. The attempt has not started.
    Accepting {
        attempt: Box<Attempt>,
        is_cancelled: bool,
    },
    /// Waiting for an older attempt of the instance to end.
    Waiting {
        attempt: Box<Attempt>,
    },
    Running {
        since: Micros,
    },
    /// The result is being journaled and was not reported yet.
    Ending {
        finished: Box<AttemptResult>,
    },
    /// The result was reported, or will be on the next connect.
    Ended {
        finished: Box<AttemptResult>,
        is_durable: bool,
    },
    Acknowledged,
}

/// Agent side of the session.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentSession {
    pub(super) identity: Identity,
    pub(super) limits: AgentLimits,
    pub(super) is_connected: bool,
    pub(super) attempts: BTreeMap<AttemptKey, State>,
    /// Highest generation seen for each run.
    pub(super) generations: BTreeMap<RunId, Generation>,
    /// Runs that are over but have unacknowledged results.
    pub(super) ending_runs: BTreeSet<RunId>,
    /// Runs that are over, of which only the id is retained.
    pub(super) ended_runs: BTreeSet<RunId>,
    pub(super) n_unacknowledged: usize,
    pub(super) next_seq: u64,
    /// Pending writes that an attempt waits for.
    pub(super) writing: BTreeMap<u64, AttemptKey>,
    /// Journal records, including requested writes.
    pub(super) n_records: usize,
    /// Number of the last journal rewrite while it is pending.
    pub(super) rewrite: Option<u64>,
}

pub(super) type Outputs = Vec<Output>;

impl AgentSession {
    /// Creates an agent with an empty journal.
    pub fn new(identity: Identity, limits: AgentLimits) -> Self {
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

    /// Processes an input.
    pub fn step(&mut self, input: Input, now: Micros) -> Outputs {
        let mut outputs = Outputs::new();
        match input {
            Input::Connected { facts } => self.handle_connected(facts, &mut outputs),
            Input::Disconnected => self.is_connected = false,
            Input::Message(message) => self.handle_message(message, now, &mut outputs),
            Input::Written { seq } => self.handle_written(seq, now, &mut outputs),
            Input::WriteFailed { seq, message } => self.handle_write_failed(seq, &message, now, &mut outputs),
            Input::Exited { key, end, report } => self.handle_exited(key, end, report, now, &mut outputs),
        }
        self.compact(&mut outputs);
        outputs
    }

    /// Attempts that run or are about to start.
    pub fn running(&self) -> impl Iterator<Item = AttemptKey> {
        let is_open = |state: &State| !matches!(state, State::Ended { .. } | State::Acknowledged);
        self.attempts.iter().filter(move |(_, state)| is_open(state)).map(|(key, _)| *key)
    }

    /// Returns the number of unacknowledged results.
    pub fn n_unacknowledged(&self) -> usize {
        self.n_unacknowledged
    }

    fn handle_message(&mut self, message: ToAgent, now: Micros, outputs: &mut Outputs) {
        match message {
            ToAgent::Welcome { heartbeat_ms } => outputs.push(Output::HeartbeatEvery { ms: heartbeat_ms }),
            ToAgent::Start(Attempt { key, .. }) if self.is_evicted(key.run) => {
                // The server that still drives such a run needs the reason why no attempt starts.
                self.send(
                    refusal(
                        key,
                        now,
                        "the run is older than all runs that the agent remembers, so it must have ended",
                    ),
                    outputs,
                );
            }
            ToAgent::Start(attempt) => {
                if self.accepts_generation(attempt.key.run, attempt.generation, outputs) {
                    self.start(attempt, now, outputs);
                }
            }
            ToAgent::Cancel { key, generation, how } => {
                if self.accepts_generation(key.run, generation, outputs) {
                    self.cancel(key, how, now, outputs);
                }
            }
            ToAgent::Acknowledge { keys } => {
                for key in keys {
                    self.handle_ack(key, outputs);
                }
            }
            ToAgent::RunEnded { run } => self.handle_run_ended(run, outputs),
            ToAgent::Check(request) => outputs.push(Output::Check(request)),
        }
    }

    /// Reports whether the sender still holds the run lease and the run is not over.
    fn accepts_generation(&mut self, run: RunId, generation: Generation, outputs: &mut Outputs) -> bool {
        let why = if self.is_over(run) {
            "the run has ended"
        } else if self.generations.get(&run).is_some_and(|highest| generation < *highest) {
            "stale generation: another server holds the run lease"
        } else {
            self.generations.insert(run, generation);
            return true;
        };
        outputs.push(Output::Ignored { run, why });
        false
    }

    fn is_over(&self, run: RunId) -> bool {
        self.ended_runs.contains(&run) || self.ending_runs.contains(&run) || self.is_evicted(run)
    }

    /// Reports whether a run is older than all remembered ended runs, so it must have ended and been evicted.
    fn is_evicted(&self, run: RunId) -> bool {
        self.ended_runs.len() >= self.limits.n_ended_runs_max
            && self.ended_runs.first().is_some_and(|oldest| run < *oldest)
            && !self.generations.contains_key(&run)
    }

    fn start(&mut self, attempt: Attempt, now: Micros, outputs: &mut Outputs) {
        let key = attempt.key;
        if let Some(state) = self.attempts.get(&key) {
            let report = match state {
                State::Running { since } => Some(FromAgent::Started { key, at: *since }),
                State::Ended { finished, .. } => Some(FromAgent::Finished((**finished).clone())),
                State::Acknowledged => {
                    Some(refusal(key, now, "this attempt was already executed and its result acknowledged"))
                }
                State::Accepting { .. } | State::Waiting { .. } | State::Ending { .. } => None,
            };
            if let Some(message) = report {
                self.send(message, outputs);
            }
            return;
        }
        if self.newest(key).is_some_and(|newest| newest.attempt > key.attempt) {
            self.send(refusal(key, now, "a later attempt of the same task was already received"), outputs);
            return;
        }
        if self.n_unacknowledged >= self.limits.n_unacknowledged_max {
            // The refusal is retained: the same message may be redelivered when there is room, and by then
            // the server no longer waits for the attempt.
            let end = ResultKind::Refused { message: "too many unacknowledged results".to_owned() };
            self.report(
                Box::new(AttemptResult { key, at: now, end, report: TaskReport::default() }),
                false,
                outputs,
            );
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
        // The server abandoned the old attempt when it sent the new one. Running both would execute the task
        // twice.
        self.attempts.insert(key, State::Waiting { attempt: Box::new(attempt) });
        for key in older {
            self.cancel(key, CancelMode::Now, now, outputs);
        }
    }

    fn accept(&mut self, attempt: Attempt, outputs: &mut Outputs) {
        let key = attempt.key;
        let record = Record::Accepted { key, generation: attempt.generation };
        self.write_for(key, record, outputs);
        let state = State::Accepting { attempt: Box::new(attempt), is_cancelled: false };
        self.attempts.insert(key, state);
    }

    fn cancel(&mut self, key: AttemptKey, how: CancelMode, now: Micros, outputs: &mut Outputs) {
        let is_superseded = self.newest(key).is_some_and(|newest| newest.attempt > key.attempt);
        match self.attempts.get_mut(&key) {
            // The attempt ended and was acknowledged, or will never start.
            None if is_superseded => {}
            Some(State::Accepting { is_cancelled, .. }) => *is_cancelled = true,
            Some(State::Running { .. }) if how == CancelMode::Now => outputs.push(Output::Kill(key)),
            Some(State::Running { .. } | State::Ending { .. } | State::Acknowledged) => {}
            Some(State::Ended { finished, .. }) => {
                let report = FromAgent::Finished((**finished).clone());
                self.send(report, outputs);
            }
            // Unknown attempts are recorded too: their start message may still be in transit and must be
            // refused.
            Some(State::Waiting { .. }) | None => {
                self.end(key, ResultKind::Cancelled, TaskReport::default(), now, outputs);
            }
        }
    }

    fn handle_exited(
        &mut self,
        key: AttemptKey,
        end: ResultKind,
        report: TaskReport,
        now: Micros,
        outputs: &mut Outputs,
    ) {
        if matches!(self.attempts.get(&key), Some(State::Running { .. })) {
            self.end(key, end, report, now, outputs);
            self.start_next_attempt(key, outputs);
        } else {
            outputs.push(Output::Ignored { run: key.run, why: "the exited attempt was not running" });
        }
    }

    /// Starts the newest attempt of an instance if it was waiting for the ended attempt.
    fn start_next_attempt(&mut self, ended: AttemptKey, outputs: &mut Outputs) {
        let Some(newest) = self.newest(ended) else { return };
        if let Some(State::Waiting { attempt }) = self.attempts.get(&newest) {
            let attempt = (**attempt).clone();
            self.accept(attempt, outputs);
        }
    }

    pub(super) fn end(
        &mut self,
        key: AttemptKey,
        end: ResultKind,
        report: TaskReport,
        now: Micros,
        outputs: &mut Outputs,
    ) {
        let finished = AttemptResult { key, at: now, end, report };
        self.write_for(key, Record::Ended(finished.clone()), outputs);
        self.attempts.insert(key, State::Ending { finished: Box::new(finished) });
    }

    fn handle_written(&mut self, seq: u64, now: Micros, outputs: &mut Outputs) {
        if self.rewrite == Some(seq) {
            self.rewrite = None;
        }
        let Some(key) = self.writing.remove(&seq) else { return };
        match self.attempts.remove(&key) {
            Some(State::Accepting { is_cancelled: true, .. }) => {
                self.end(key, ResultKind::Cancelled, TaskReport::default(), now, outputs);
                self.start_next_attempt(key, outputs);
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

    fn handle_write_failed(&mut self, seq: u64, message: &str, now: Micros, outputs: &mut Outputs) {
        if self.rewrite == Some(seq) {
            self.rewrite = None;
            // Postpone the next rewrite until as many records have been written again.
            self.n_records = 0;
        }
        let Some(key) = self.writing.remove(&seq) else { return };
        match self.attempts.remove(&key) {
            Some(State::Accepting { .. }) => {
                let message = format!("the agent cannot write its journal: {message}");
                let finished = AttemptResult {
                    key,
                    at: now,
                    end: ResultKind::Refused { message },
                    report: TaskReport::default(),
                };
                self.report(Box::new(finished), false, outputs);
                self.start_next_attempt(key, outputs);
            }
            Some(State::Ending { finished, .. }) => self.report(finished, false, outputs),
            _ => {}
        }
    }

    fn report(&mut self, finished: Box<AttemptResult>, is_durable: bool, outputs: &mut Outputs) {
        let key = finished.key;
        self.send(FromAgent::Finished((*finished).clone()), outputs);
        self.n_unacknowledged += 1;
        self.attempts.insert(key, State::Ended { finished, is_durable });
    }

    fn handle_ack(&mut self, key: AttemptKey, outputs: &mut Outputs) {
        let Some(state @ State::Ended { .. }) = self.attempts.get_mut(&key) else { return };
        *state = State::Acknowledged;
        self.n_unacknowledged -= 1;
        // The write is not awaited: without this record the result is reported once more, which is
        // deduplicated.
        self.write(Record::Acknowledged { key }, outputs);
        if self.newest(key) != Some(key) {
            self.attempts.remove(&key);
        }
        self.drop_ended_run(key.run, outputs);
    }

    fn handle_run_ended(&mut self, run: RunId, outputs: &mut Outputs) {
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
        self.drop_ended_run(run, outputs);
    }

    /// Drops a run that is over and fully acknowledged, except for its id.
    fn drop_ended_run(&mut self, run: RunId, outputs: &mut Outputs) {
        let is_acknowledged = |state: &State| matches!(state, State::Acknowledged);
        if !self.ending_runs.contains(&run)
            || !self.attempts.range(run_keys(run)).all(|(_, state)| is_acknowledged(state))
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
    let end = ResultKind::Refused { message: message.to_owned() };
    FromAgent::Finished(AttemptResult { key, at, end, report: TaskReport::default() })
}
