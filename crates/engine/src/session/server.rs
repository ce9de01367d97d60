//! Server side of the session: one machine per agent, for all runs that the agent works for.
//!
//! Owns the attempts in flight with the agent and the liveness of the agent. When an agent reconnects it
//! reports its state, and this machine reconciles: attempts that the agent does not know are redelivered,
//! attempts that it had started and has lost are interrupted, unacknowledged results are accepted, attempts
//! that no run waits for are cancelled, and ended runs are dropped.
//!
//! The session does not know the contents of an attempt (the caller builds it from the plan on delivery) and
//! does not interpret results: each result is forwarded, and acknowledged only after the caller reports it as
//! recorded. The caller must not pass messages of a connection that was replaced by another.

use std::collections::{BTreeMap, BTreeSet};

use stoker_model::{JsonMap, Micros, RunId, TaskReport};

use super::{
    AttemptKey, AttemptResult, CancelMode, CheckReport, FromAgent, Generation, Hello, ResultKind, Stream,
    ToAgent,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionSettings {
    pub heartbeat_ms: u64,
    /// Milliseconds without a message after which an agent is lost.
    pub silence_timeout_ms: u64,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self { heartbeat_ms: 10_000, silence_timeout_ms: 30_000 }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Message(FromAgent),
    Disconnected,
    /// A run has dispatched this attempt. Idempotent.
    Dispatch {
        key: AttemptKey,
        generation: Generation,
    },
    /// A run has recorded that the agent started the attempt.
    Started {
        key: AttemptKey,
    },
    /// A run no longer needs the attempt.
    Cancel {
        key: AttemptKey,
        generation: Generation,
        how: CancelMode,
    },
    /// The results of these attempts are durable, now or since earlier.
    Recorded {
        keys: Vec<AttemptKey>,
    },
    /// The response to [`Output::QueryRuns`], also given for every run that ends; `generation` is `None` if the
    /// run is over.
    RunStatus {
        run: RunId,
        generation: Option<Generation>,
    },
    Wake,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    Send(ToAgent),
    /// Build the attempt from the plan and send it.
    Deliver {
        key: AttemptKey,
        generation: Generation,
    },
    /// An attempt started; report it to the run.
    Started {
        key: AttemptKey,
        at: Micros,
    },
    /// An attempt ended; report it to the run. Must be answered with [`Input::Recorded`], even if the
    /// result changes nothing or the run is over, and only by a server that has just verified its run
    /// lease: a result owned by another server would be lost.
    Finished(AttemptResult),
    AttemptOutput {
        key: AttemptKey,
        stream: Stream,
        offset: u64,
        text: String,
    },
    Facts(JsonMap),
    /// Results of a check.
    Checked(CheckReport),
    /// The node was lost; reported to all runs that use the node.
    Lost,
    /// The node is connected again; reported to all runs that use the node, on every connect.
    Connected,
    /// The connection is dead; close it.
    Disconnect,
    /// Queries which of these runs are over. The caller sends [`Input::RunStatus`] for each run that is over;
    /// the driver of any other run claims its attempts, and attempts without a claim are cancelled.
    QueryRuns {
        runs: Vec<RunId>,
    },
    WakeAt(Micros),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Flight {
    generation: Generation,
    cancel: Option<CancelMode>,
    /// Whether the agent reported the start of the attempt. Its journal then contains the attempt, unless the machine
    /// was replaced.
    is_begun: bool,
}

/// Server side of the session with one agent.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerSession {
    settings: SessionSettings,
    is_connected: bool,
    is_lost: bool,
    heard_at: Micros,
    in_flight: BTreeMap<AttemptKey, Flight>,
    /// Attempts that the agent runs but of which this server has no record; the server queries the state of
    /// their runs.
    strays: BTreeSet<AttemptKey>,
}

type Outputs = Vec<Output>;

impl ServerSession {
    /// Creates a session with an agent that has not connected yet. It counts as lost only after the silence
    /// timeout.
    pub fn new(settings: SessionSettings, now: Micros) -> (Self, Outputs) {
        let session = Self {
            settings,
            is_connected: false,
            is_lost: false,
            heard_at: now,
            in_flight: BTreeMap::new(),
            strays: BTreeSet::new(),
        };
        let outputs = vec![Output::WakeAt(session.silent_at())];
        (session, outputs)
    }

    pub fn is_connected(&self) -> bool {
        self.is_connected
    }

    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    pub fn in_flight(&self) -> impl Iterator<Item = AttemptKey> {
        self.in_flight.keys().copied()
    }

    /// Processes an input.
    pub fn step(&mut self, input: Input, now: Micros) -> Outputs {
        let mut outputs = Outputs::new();
        match input {
            Input::Message(message) => self.handle_message(message, now, &mut outputs),
            Input::Disconnected => self.is_connected = false,
            Input::Dispatch { key, generation } => self.dispatch(key, generation, &mut outputs),
            Input::Started { key } => self.mark_started(key),
            Input::Cancel { key, generation, how } => self.cancel(key, generation, how, &mut outputs),
            Input::Recorded { keys } => {
                for key in &keys {
                    self.in_flight.remove(key);
                }
                self.send(ToAgent::Acknowledge { keys }, &mut outputs);
            }
            Input::RunStatus { run, generation } => self.handle_run_status(run, generation, &mut outputs),
            Input::Wake => self.check_silence(now, &mut outputs),
        }
        outputs
    }

    fn handle_message(&mut self, message: FromAgent, now: Micros, outputs: &mut Outputs) {
        self.heard_at = now;
        match message {
            FromAgent::Hello(hello) => self.handle_hello(hello, now, outputs),
            FromAgent::Heartbeat => {}
            FromAgent::Facts(facts) => outputs.push(Output::Facts(facts)),
            FromAgent::Started { key, at } => {
                self.mark_started(key);
                outputs.push(Output::Started { key, at });
            }
            FromAgent::Output { key, stream, offset, text } => {
                outputs.push(Output::AttemptOutput { key, stream, offset, text });
            }
            FromAgent::Finished(finished) => outputs.push(Output::Finished(finished)),
            FromAgent::Checked(report) => outputs.push(Output::Checked(report)),
        }
    }

    fn mark_started(&mut self, key: AttemptKey) {
        if let Some(flight) = self.in_flight.get_mut(&key) {
            flight.is_begun = true;
        }
    }

    fn handle_hello(&mut self, hello: Hello, now: Micros, outputs: &mut Outputs) {
        self.is_connected = true;
        // Report the node as back even if this server did not consider it lost: the previous server may have.
        outputs.push(Output::Connected);
        if std::mem::replace(&mut self.is_lost, false) {
            outputs.push(Output::WakeAt(self.silent_at()));
        }
        self.send(ToAgent::Welcome { heartbeat_ms: self.settings.heartbeat_ms }, outputs);
        outputs.push(Output::Facts(hello.facts));
        let reported: BTreeSet<AttemptKey> =
            hello.running.iter().copied().chain(hello.finished.iter().map(|finished| finished.key)).collect();
        self.strays = hello.running.iter().copied().filter(|key| !self.in_flight.contains_key(key)).collect();
        for (key, flight) in &self.in_flight {
            let Flight { generation, cancel, is_begun } = *flight;
            // A cancelled attempt need not be delivered first: an agent records the cancellation of an
            // unknown attempt.
            match cancel {
                Some(how) => outputs.push(Output::Send(ToAgent::Cancel { key: *key, generation, how })),
                None if reported.contains(key) => {}
                None if is_begun => outputs.push(Output::Finished(interrupted(*key, now))),
                None => outputs.push(Output::Deliver { key: *key, generation }),
            }
        }
        outputs.extend(hello.finished.into_iter().map(Output::Finished));
        if !hello.runs.is_empty() {
            outputs.push(Output::QueryRuns { runs: hello.runs });
        }
    }

    fn dispatch(&mut self, key: AttemptKey, generation: Generation, outputs: &mut Outputs) {
        let older = AttemptKey { attempt: 0, ..key }..key;
        let older: Vec<AttemptKey> = self.in_flight.range(older).map(|(key, _)| *key).collect();
        for key in older {
            self.in_flight.remove(&key);
        }
        self.strays.remove(&key);
        let previous = self.in_flight.get(&key);
        let is_begun = previous.is_some_and(|flight| flight.is_begun);
        let is_new = previous.is_none();
        self.in_flight.insert(key, Flight { generation, cancel: None, is_begun });
        if is_new && self.is_connected {
            outputs.push(Output::Deliver { key, generation });
        }
    }

    fn cancel(&mut self, key: AttemptKey, generation: Generation, how: CancelMode, outputs: &mut Outputs) {
        let is_begun = self.in_flight.get(&key).is_some_and(|flight| flight.is_begun);
        self.in_flight.insert(key, Flight { generation, cancel: Some(how), is_begun });
        self.send(ToAgent::Cancel { key, generation, how }, outputs);
    }

    fn handle_run_status(&mut self, run: RunId, generation: Option<Generation>, outputs: &mut Outputs) {
        let strays: Vec<AttemptKey> = self.strays.iter().copied().filter(|key| key.run == run).collect();
        for key in &strays {
            self.strays.remove(key);
        }
        let Some(generation) = generation else {
            self.in_flight.retain(|key, _| key.run != run);
            self.send(ToAgent::RunEnded { run }, outputs);
            return;
        };
        for key in strays {
            self.send(ToAgent::Cancel { key, generation, how: CancelMode::Now }, outputs);
        }
    }

    fn check_silence(&mut self, now: Micros, outputs: &mut Outputs) {
        if self.is_lost {
            return;
        }
        if now < self.silent_at() {
            outputs.push(Output::WakeAt(self.silent_at()));
            return;
        }
        self.is_lost = true;
        outputs.push(Output::Lost);
        if std::mem::replace(&mut self.is_connected, false) {
            outputs.push(Output::Disconnect);
        }
    }

    fn silent_at(&self) -> Micros {
        let ms = i64::try_from(self.settings.silence_timeout_ms).unwrap_or(i64::MAX);
        Micros(self.heard_at.0.saturating_add(ms.saturating_mul(1000)))
    }

    fn send(&self, message: ToAgent, outputs: &mut Outputs) {
        if self.is_connected {
            outputs.push(Output::Send(message));
        }
    }
}

/// Returns the result of an attempt that the agent started but no longer knows: its journal was lost, or the
/// agent was replaced. The progress of the attempt is unknown, so it must not be started again.
pub(super) fn interrupted(key: AttemptKey, at: Micros) -> AttemptResult {
    AttemptResult { key, at, end: ResultKind::Interrupted, report: TaskReport::default() }
}
