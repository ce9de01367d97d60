//! The real agent session with a no-op journal and no-op tasks, so that a measurement covers the server only.

use std::collections::VecDeque;
use std::time::Duration;

use stoker_engine::session::agent::{AgentLimits, AgentSession, Identity, Input, Output};
use stoker_engine::session::{AttemptKey, FromAgent, ResultKind};
use stoker_model::{AgentUid, Micros, TaskReport};

pub(crate) struct IdleAgent {
    session: AgentSession,
    /// Whether tasks end immediately.
    is_quick: bool,
    /// Running tasks of a slow agent, to be ended by the caller.
    pub(crate) started: Vec<AttemptKey>,
    /// Heartbeat interval requested by the server.
    pub(crate) heartbeat: Option<Duration>,
    pub(crate) n_done: u64,
}

impl IdleAgent {
    pub(crate) fn new(uid: AgentUid) -> Self {
        let identity = Identity { node: uid, version: "bench".to_owned(), journal_id: None };
        let session = AgentSession::new(identity, AgentLimits::default());
        Self { session, is_quick: true, started: Vec::new(), heartbeat: None, n_done: 0 }
    }

    /// Returns an agent whose tasks run until [`IdleAgent::end`].
    pub(crate) fn slow(uid: AgentUid) -> Self {
        Self { is_quick: false, ..Self::new(uid) }
    }

    /// Ends a running task.
    pub(crate) fn end(&mut self, key: AttemptKey, now: Micros) -> Vec<FromAgent> {
        self.step(Input::Exited { key, end: ResultKind::Succeeded, report: TaskReport::default() }, now)
    }

    /// Processes an input. Returns the messages to send.
    pub(crate) fn step(&mut self, input: Input, now: Micros) -> Vec<FromAgent> {
        let (mut inputs, mut messages) = (VecDeque::from([input]), Vec::new());
        while let Some(input) = inputs.pop_front() {
            for output in self.session.step(input, now) {
                match output {
                    Output::Write { seq, .. } | Output::Rewrite { seq, .. } => {
                        inputs.push_back(Input::Written { seq });
                    }
                    Output::Send(message) => messages.push(message),
                    Output::Start(attempt) if !self.is_quick => self.started.push(attempt.key),
                    Output::Start(attempt) => {
                        self.n_done += 1;
                        let (key, report) = (attempt.key, TaskReport::default());
                        inputs.push_back(Input::Exited { key, end: ResultKind::Succeeded, report });
                    }
                    Output::HeartbeatEvery { ms } => self.heartbeat = Some(Duration::from_millis(ms)),
                    // No server of a benchmark checks for drift.
                    Output::Check(_) | Output::Kill(_) | Output::Ignored { .. } => {}
                }
            }
        }
        messages
    }
}
