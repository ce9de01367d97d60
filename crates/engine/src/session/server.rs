//! The side of the server: one machine for each agent, whichever runs it works for.
//!
//! Owns what the agent was asked to do and has not ended, and whether anything is heard of it. When an agent comes back
//! it says what it knows, and this machine makes both sides agree: what the agent never heard of is delivered again,
//! what it had begun and has forgotten is interrupted, what it has finished is taken, what nobody waits for is
//! cancelled, what is over is forgotten.
//!
//! Refuses to know what an attempt consists of (whoever drives it makes that from the plan when it is delivered) and to
//! judge an end: each is handed on, and acknowledged only when whoever keeps it says that it is safe. Messages of a
//! connection that was replaced by another must not be given to it.

use std::collections::{BTreeMap, BTreeSet};

use stoker_model::{JsonMap, Micros, RunId};

use super::{AttemptKey, CancelHow, End, Finished, FromAgent, Generation, Hello, Stream, ToAgent};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    pub heartbeat_ms: u64,
    /// An agent of which nothing is heard for longer is lost.
    pub silent_after_ms: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { heartbeat_ms: 10_000, silent_after_ms: 30_000 }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Message(FromAgent),
    Disconnected,
    /// A run has decided to carry this out. Saying it again does no harm.
    Dispatch {
        key: AttemptKey,
        generation: Generation,
    },
    /// A run knows that the agent has begun what it was asked for.
    Begun {
        key: AttemptKey,
    },
    /// A run does not want it any more.
    Cancel {
        key: AttemptKey,
        generation: Generation,
        how: CancelHow,
    },
    /// The ends of these are safe, or were before.
    Recorded {
        keys: Vec<AttemptKey>,
    },
    /// The answer to [`Output::AskRuns`], and to be told of every run that ends: none if it is over.
    RunIs {
        run: RunId,
        generation: Option<Generation>,
    },
    Wake,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    Send(ToAgent),
    /// Make the attempt from the plan and send it.
    Deliver {
        key: AttemptKey,
        generation: Generation,
    },
    /// For the run.
    Started {
        key: AttemptKey,
        at: Micros,
    },
    /// For the run; answered with [`Input::Recorded`], also if it changes nothing or the run is over, and only by a server
    /// that has just made sure that the run is still its own: an end that another server has to keep would be lost.
    Finished(Finished),
    Printed {
        key: AttemptKey,
        stream: Stream,
        offset: u64,
        text: String,
    },
    Facts(JsonMap),
    /// For every run that the node takes part in.
    Lost,
    /// The same; said with every connection.
    Back,
    /// The connection is of no use any more.
    Disconnect,
    /// Which of these are over? Answered with [`Input::RunIs`] for each that is, and by whoever has the run for the others;
    /// what runs and nobody waits for is then cancelled.
    AskRuns {
        runs: Vec<RunId>,
    },
    WakeAt(Micros),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Flight {
    generation: Generation,
    cancel: Option<CancelHow>,
    /// The agent has begun it: its journal knows, or the agent is another one.
    is_begun: bool,
}

/// The server's side of the conversation with one agent.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerSession {
    settings: Settings,
    is_connected: bool,
    is_lost: bool,
    heard_at: Micros,
    in_flight: BTreeMap<AttemptKey, Flight>,
    /// What the agent runs and was not asked to, as far as this server knows; whose run is asked for.
    strays: BTreeSet<AttemptKey>,
}

type Outputs = Vec<Output>;

impl ServerSession {
    /// A session with an agent that was not heard of yet. It is not lost before it had time to come.
    pub fn new(settings: Settings, now: Micros) -> (Self, Outputs) {
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

    /// What is to be done about something that happened.
    pub fn step(&mut self, input: Input, now: Micros) -> Outputs {
        let mut outputs = Outputs::new();
        match input {
            Input::Message(message) => self.message(message, now, &mut outputs),
            Input::Disconnected => self.is_connected = false,
            Input::Dispatch { key, generation } => self.dispatch(key, generation, &mut outputs),
            Input::Begun { key } => self.begun(key),
            Input::Cancel { key, generation, how } => self.cancel(key, generation, how, &mut outputs),
            Input::Recorded { keys } => {
                for key in &keys {
                    self.in_flight.remove(key);
                }
                self.send(ToAgent::Acknowledge { keys }, &mut outputs);
            }
            Input::RunIs { run, generation } => self.run_is(run, generation, &mut outputs),
            Input::Wake => self.wake(now, &mut outputs),
        }
        outputs
    }

    fn message(&mut self, message: FromAgent, now: Micros, outputs: &mut Outputs) {
        self.heard_at = now;
        match message {
            FromAgent::Hello(hello) => self.hello(hello, now, outputs),
            FromAgent::Heartbeat => {}
            FromAgent::Facts(facts) => outputs.push(Output::Facts(facts)),
            FromAgent::Started { key, at } => {
                self.begun(key);
                outputs.push(Output::Started { key, at });
            }
            FromAgent::Output { key, stream, offset, text } => {
                outputs.push(Output::Printed { key, stream, offset, text });
            }
            FromAgent::Finished(finished) => outputs.push(Output::Finished(finished)),
        }
    }

    fn begun(&mut self, key: AttemptKey) {
        if let Some(flight) = self.in_flight.get_mut(&key) {
            flight.is_begun = true;
        }
    }

    fn hello(&mut self, hello: Hello, now: Micros, outputs: &mut Outputs) {
        self.is_connected = true;
        // Also if this server never missed it: the one before may have.
        outputs.push(Output::Back);
        if std::mem::replace(&mut self.is_lost, false) {
            outputs.push(Output::WakeAt(self.silent_at()));
        }
        self.send(ToAgent::Welcome { heartbeat_ms: self.settings.heartbeat_ms }, outputs);
        outputs.push(Output::Facts(hello.facts));
        let known: BTreeSet<AttemptKey> =
            hello.running.iter().copied().chain(hello.finished.iter().map(|finished| finished.key)).collect();
        self.strays = hello.running.iter().copied().filter(|key| !self.in_flight.contains_key(key)).collect();
        for (key, flight) in &self.in_flight {
            let Flight { generation, cancel, is_begun } = *flight;
            // One that is cancelled is not sent first: an agent remembers a cancellation of what it never saw.
            match cancel {
                Some(how) => outputs.push(Output::Send(ToAgent::Cancel { key: *key, generation, how })),
                None if known.contains(key) => {}
                None if is_begun => outputs.push(Output::Finished(forgotten(*key, now))),
                None => outputs.push(Output::Deliver { key: *key, generation }),
            }
        }
        outputs.extend(hello.finished.into_iter().map(Output::Finished));
        if !hello.runs.is_empty() {
            outputs.push(Output::AskRuns { runs: hello.runs });
        }
    }

    fn dispatch(&mut self, key: AttemptKey, generation: Generation, outputs: &mut Outputs) {
        let older = AttemptKey { attempt: 0, ..key }..key;
        let older: Vec<AttemptKey> = self.in_flight.range(older).map(|(key, _)| *key).collect();
        for key in older {
            self.in_flight.remove(&key);
        }
        self.strays.remove(&key);
        let former = self.in_flight.get(&key);
        let is_begun = former.is_some_and(|flight| flight.is_begun);
        let is_new = former.is_none();
        self.in_flight.insert(key, Flight { generation, cancel: None, is_begun });
        if is_new && self.is_connected {
            outputs.push(Output::Deliver { key, generation });
        }
    }

    fn cancel(&mut self, key: AttemptKey, generation: Generation, how: CancelHow, outputs: &mut Outputs) {
        let is_begun = self.in_flight.get(&key).is_some_and(|flight| flight.is_begun);
        self.in_flight.insert(key, Flight { generation, cancel: Some(how), is_begun });
        self.send(ToAgent::Cancel { key, generation, how }, outputs);
    }

    fn run_is(&mut self, run: RunId, generation: Option<Generation>, outputs: &mut Outputs) {
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
            self.send(ToAgent::Cancel { key, generation, how: CancelHow::Now }, outputs);
        }
    }

    fn wake(&mut self, now: Micros, outputs: &mut Outputs) {
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
        let ms = i64::try_from(self.settings.silent_after_ms).unwrap_or(i64::MAX);
        Micros(self.heard_at.0.saturating_add(ms.saturating_mul(1000)))
    }

    fn send(&self, message: ToAgent, outputs: &mut Outputs) {
        if self.is_connected {
            outputs.push(Output::Send(message));
        }
    }
}

/// An agent that has begun an attempt knows of it, whatever happened to it meanwhile. One that does not has lost its journal,
/// or has taken the place of another: how far the attempt came nobody will ever know, and it must not be begun again.
pub(super) fn forgotten(key: AttemptKey, at: Micros) -> Finished {
    Finished { key, at, end: End::Interrupted, summary: JsonMap::new() }
}
