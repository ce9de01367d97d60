//! A session with an agent, from its first message to its last, over whatever carries messages.

use std::future::Future;
use std::time::Duration;

use stoker_engine::session::server::Input;
use stoker_engine::session::{FromAgent, ToAgent};
use stoker_services::background::TaskMonitor;
use stoker_store::{List, StoreError};
use tokio::time::timeout;

use crate::agents::{Line, Proof};
use crate::orchestrator::Orchestrator;
use crate::routing::handle_outputs;

/// From the connection to the first message.
const HELLO_TIME_MAX: Duration = Duration::from_secs(20);
/// How often missed heartbeats are looked for.
pub(crate) const WATCH_INTERVAL: Duration = Duration::from_secs(5);

/// The agent gateway: what carries messages to and from one agent. `server` implements it over a WebSocket; NATS and agents
/// inside of the process have implementations of their own.
pub trait AgentTransport: Send {
    /// The next message; `None` when there will be no more.
    fn receive(&mut self) -> impl Future<Output = Option<FromAgent>> + Send;
    /// Whether it could be sent.
    fn send(&mut self, message: ToAgent) -> impl Future<Output = bool> + Send;
}

/// Serves the agent that proved to be `uid`, with a credential of this digest, until either side closes the connection.
pub async fn converse(
    orchestrator: &Orchestrator,
    uid: &str,
    proof: Option<Proof>,
    mut carrier: impl AgentTransport,
) {
    let Ok(Some(FromAgent::Hello(hello))) = timeout(HELLO_TIME_MAX, carrier.receive()).await else {
        tracing::warn!(agent.uid = uid, "closed a connection: no hello in time");
        return;
    };
    if hello.node != uid {
        tracing::warn!(agent.uid = uid, said = hello.node, "closed a connection: hello of another agent");
        return;
    }
    tracing::info!(agent.uid = uid, agent.version = hello.version, "agent connected");
    orchestrator.metrics.agents.connections.inc();
    let mut line = orchestrator.agents.connect(uid, proof, orchestrator.context.clock.now());
    // Its credential may have been revoked meanwhile; from here on a revocation finds the connection.
    if is_welcome(orchestrator, proof).await {
        orchestrator.peers.moved(uid, line.id, true);
        handle_message(orchestrator, &line, FromAgent::Hello(hello)).await;
        exchange(orchestrator, &mut line, &mut carrier).await;
    }
    orchestrator.agents.disconnect(&line, orchestrator.context.clock.now());
    orchestrator.peers.moved(uid, line.id, false);
    tracing::info!(agent.uid = uid, "agent disconnected");
}

async fn is_welcome(orchestrator: &Orchestrator, proof: Option<Proof>) -> bool {
    let Some(proof) = proof else { return true };
    match revoked(orchestrator, &[proof]).await {
        Ok(revoked) => revoked.is_empty(),
        // A database that does not answer is no reason to refuse an agent.
        Err(error) => {
            tracing::warn!(error = %error, "cannot read whether an agent was revoked");
            true
        }
    }
}

/// Which of these credentials were revoked.
async fn revoked(orchestrator: &Orchestrator, proofs: &[Proof]) -> Result<Vec<Proof>, StoreError> {
    orchestrator.context.store.read().await?.agents_gone(proofs).await
}

/// Closes connections of agents that were revoked on another server.
async fn close_revoked(orchestrator: &Orchestrator) -> Result<(), StoreError> {
    let proofs = orchestrator.agents.proofs();
    if !proofs.is_empty() {
        orchestrator.agents.cut_off(&revoked(orchestrator, &proofs).await?);
    }
    Ok(())
}

async fn exchange(orchestrator: &Orchestrator, line: &mut Line, carrier: &mut impl AgentTransport) {
    loop {
        tokio::select! {
            message = carrier.receive() => {
                let Some(message) = message else { return };
                handle_message(orchestrator, line, message).await;
            }
            message = line.outbox.recv() => {
                let Some(message) = message else { return };
                tokio::select! {
                    is_sent = carrier.send(message) => if !is_sent {
                        return;
                    },
                    // An agent that vanished without closing accepts nothing for as long as the network retries.
                    () = line.cut.notified() => return,
                }
            }
            () = line.cut.notified() => return,
        }
    }
}

async fn handle_message(orchestrator: &Orchestrator, line: &Line, message: FromAgent) {
    if matches!(message, FromAgent::Heartbeat) {
        orchestrator.heartbeats.note(&line.uid);
    }
    let now = orchestrator.context.clock.now();
    let outputs = orchestrator.agents.step_from(line, Input::Message(message), now);
    handle_outputs(orchestrator, &line.uid, outputs).await;
}

/// Looks for agents whose heartbeats are missing. Never returns.
pub(crate) async fn watch(orchestrator: &Orchestrator, monitor: &TaskMonitor) {
    let mut ticks = tokio::time::interval(WATCH_INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut is_expecting = false;
    loop {
        ticks.tick().await;
        monitor.start();
        let mut passed = Ok(());
        if !is_expecting {
            passed = expect_all(orchestrator).await;
            is_expecting = passed.is_ok();
        }
        // A single server has closed them itself.
        if orchestrator.context.is_shared {
            passed = passed.and(close_revoked(orchestrator).await);
        }
        if let Err(error) = &passed {
            tracing::warn!(error = %error, "cannot read which agents are expected or revoked");
        }
        for (uid, outputs) in orchestrator.agents.step_all(&Input::Wake, orchestrator.context.clock.now()) {
            handle_outputs(orchestrator, &uid, outputs).await;
        }
        monitor.finish(&passed);
    }
}

/// Expects every agent that ever joined: one that was connected before this server started and does not come back, to this
/// server or another, is reported as lost.
async fn expect_all(orchestrator: &Orchestrator) -> Result<(), StoreError> {
    let agents = orchestrator.context.store.read().await?.agent_list(None, &List::default()).await?;
    let now = orchestrator.context.clock.now();
    agents.items.iter().for_each(|agent| _ = orchestrator.agents.is_lost(&agent.uid, now));
    Ok(())
}
