//! Agents that live in memory and succeed at once: with them, what is measured is the server.

use std::collections::VecDeque;
use std::sync::Arc;

use stoker_engine::session::End;
use stoker_engine::session::agent::{AgentSession, Identity, Input, Limits, Output};
use stoker_model::{JsonMap, Micros};
use stoker_server::{AgentSpawner, LocalAgent, LocalConnection};
use tokio::sync::mpsc;

const WAITING_MAX: usize = 64;

pub(crate) fn spawner() -> AgentSpawner {
    Arc::new(|agent: LocalAgent| {
        tokio::spawn(run(agent));
    })
}

/// The real session of an agent, a journal that forgets, and tasks that do nothing.
async fn run(agent: LocalAgent) {
    let LocalAgent { uid, connections, .. } = agent;
    let (send, mut messages) = mpsc::channel(WAITING_MAX);
    let (reports, receive) = mpsc::channel(WAITING_MAX);
    if connections.send(LocalConnection { send, receive }).is_err() {
        return;
    }
    let identity = Identity { node: uid, version: "bench".to_owned() };
    let mut session = AgentSession::new(identity, Limits::default());
    let mut inputs = VecDeque::from([Input::Connected { facts: JsonMap::new() }]);
    loop {
        while let Some(input) = inputs.pop_front() {
            for output in session.step(input, Micros(1)) {
                match output {
                    Output::Write { seq, .. } | Output::Rewrite { seq, .. } => {
                        inputs.push_back(Input::Written { seq });
                    }
                    Output::Send(message) => {
                        if reports.send(message).await.is_err() {
                            return;
                        }
                    }
                    Output::Start(attempt) => {
                        let (key, summary) = (attempt.key, JsonMap::new());
                        inputs.push_back(Input::Exited { key, end: End::Succeeded, summary });
                    }
                    Output::Kill(_) | Output::HeartbeatEvery { .. } | Output::Ignored { .. } => {}
                }
            }
        }
        match messages.recv().await {
            Some(message) => inputs.push_back(Input::Message(message)),
            None => return,
        }
    }
}
