//! In-memory agents whose tasks are no-ops or sleep.

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

/// Returns a spawner of agents whose tasks take `task_duration`; zero ends them immediately.
pub(crate) fn spawner(task_duration: Duration) -> AgentSpawner {
    Arc::new(move |agent: LocalAgent| {
        tokio::spawn(run(agent, task_duration));
    })
}

async fn run(agent: LocalAgent, task_duration: Duration) {
    let LocalAgent { uid, connections, .. } = agent;
    let (send, mut messages) = mpsc::channel(WAITING_MAX);
    let (reports, receive) = mpsc::channel(WAITING_MAX);
    if connections.send(LocalConnection { send, receive }).await.is_err() {
        return;
    }
    let mut agent = if task_duration.is_zero() { IdleAgent::new(uid) } else { IdleAgent::slow(uid) };
    let mut outgoing = agent.step(Input::Connected { facts: JsonMap::new() }, NOW);
    let mut running = VecDeque::new();
    loop {
        for message in outgoing {
            if reports.send(message).await.is_err() {
                return;
            }
        }
        running.extend(agent.started.drain(..).map(|key| (Instant::now() + task_duration, key)));
        let next = running.front().copied();
        outgoing = tokio::select! {
            message = messages.recv() => match message {
                Some(message) => agent.step(Input::Message(message), NOW),
                None => return,
            },
            key = wait_until_end(next) => {
                running.pop_front();
                agent.end(key, NOW)
            }
        };
    }
}

/// Waits until the task ends; forever without a task.
async fn wait_until_end<K>(running: Option<(Instant, K)>) -> K {
    match running {
        Some((at, key)) => {
            tokio::time::sleep_until(at).await;
            key
        }
        None => std::future::pending().await,
    }
}
