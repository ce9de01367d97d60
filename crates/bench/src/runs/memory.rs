//! Agents that live in memory; their tasks do nothing, or nothing for a while.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use stoker_engine::session::agent::Input;
use stoker_model::{JsonMap, Micros};
use stoker_server::{AgentSpawner, LocalAgent, LocalConnection};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::idle::IdleAgent;

const WAITING_MAX: usize = 64;
const NOW: Micros = Micros(1);

/// Agents whose tasks last so long; those that last for no time at all end at once.
pub(crate) fn spawner(lasting: Duration) -> AgentSpawner {
    Arc::new(move |agent: LocalAgent| {
        tokio::spawn(run(agent, lasting));
    })
}

async fn run(agent: LocalAgent, lasting: Duration) {
    let LocalAgent { uid, connections, .. } = agent;
    let (send, mut messages) = mpsc::channel(WAITING_MAX);
    let (reports, receive) = mpsc::channel(WAITING_MAX);
    if connections.send(LocalConnection { send, receive }).is_err() {
        return;
    }
    let mut agent = if lasting.is_zero() { IdleAgent::new(uid) } else { IdleAgent::slow(uid) };
    let mut said = agent.step(Input::Connected { facts: JsonMap::new() }, NOW);
    let mut running = VecDeque::new();
    loop {
        for message in said {
            if reports.send(message).await.is_err() {
                return;
            }
        }
        running.extend(agent.started.drain(..).map(|key| (Instant::now() + lasting, key)));
        let next = running.front().copied();
        said = tokio::select! {
            message = messages.recv() => match message {
                Some(message) => agent.step(Input::Message(message), NOW),
                None => return,
            },
            key = ended(next) => {
                running.pop_front();
                agent.end(key, NOW)
            }
        };
    }
}

/// Waits until a task is over; without one for ever.
async fn ended<K>(running: Option<(Instant, K)>) -> K {
    match running {
        Some((at, key)) => {
            tokio::time::sleep_until(at).await;
            key
        }
        None => std::future::pending().await,
    }
}
