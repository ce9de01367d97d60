//! The real session of an agent, a journal that forgets, and tasks that do nothing: with it, what is measured is the
//! server.

use std::collections::VecDeque;
use std::time::Duration;

use stoker_engine::session::agent::{AgentSession, Identity, Input, Limits, Output};
use stoker_engine::session::{AttemptKey, End, FromAgent};
use stoker_model::{JsonMap, Micros};

pub(crate) struct IdleAgent {
    session: AgentSession,
    /// Whether tasks end by themselves, at once.
    is_quick: bool,
    /// Tasks that somebody else ends.
    pub(crate) started: Vec<AttemptKey>,
    /// How often the server wants a sign of life.
    pub(crate) heartbeat: Option<Duration>,
    pub(crate) n_done: u64,
}

impl IdleAgent {
    pub(crate) fn new(uid: String) -> Self {
        let identity = Identity { node: uid, version: "bench".to_owned() };
        let session = AgentSession::new(identity, Limits::default());
        Self { session, is_quick: true, started: Vec::new(), heartbeat: None, n_done: 0 }
    }

    /// One whose tasks last until [`IdleAgent::end`].
    pub(crate) fn slow(uid: String) -> Self {
        Self { is_quick: false, ..Self::new(uid) }
    }

    /// A task that was started is over.
    pub(crate) fn end(&mut self, key: AttemptKey, now: Micros) -> Vec<FromAgent> {
        self.step(Input::Exited { key, end: End::Succeeded, summary: JsonMap::new() }, now)
    }

    /// What it has to say after something happened.
    pub(crate) fn step(&mut self, input: Input, now: Micros) -> Vec<FromAgent> {
        let (mut inputs, mut said) = (VecDeque::from([input]), Vec::new());
        while let Some(input) = inputs.pop_front() {
            for output in self.session.step(input, now) {
                match output {
                    Output::Write { seq, .. } | Output::Rewrite { seq, .. } => {
                        inputs.push_back(Input::Written { seq });
                    }
                    Output::Send(message) => said.push(message),
                    Output::Start(attempt) if !self.is_quick => self.started.push(attempt.key),
                    Output::Start(attempt) => {
                        self.n_done += 1;
                        let (key, summary) = (attempt.key, JsonMap::new());
                        inputs.push_back(Input::Exited { key, end: End::Succeeded, summary });
                    }
                    Output::HeartbeatEvery { ms } => self.heartbeat = Some(Duration::from_millis(ms)),
                    Output::Kill(_) | Output::Ignored { .. } => {}
                }
            }
        }
        said
    }
}
