//! Session with an agent, from hello to disconnect, independent of the transport.

use std::future::Future;
use std::time::Duration;

use stoker_engine::session::server::Input;
use stoker_engine::session::{FromAgent, Hello, ToAgent};
use stoker_model::{AgentUid, ErrorChain};
use stoker_services::background::TaskMonitor;
use stoker_services::nodes::{AgentOrigin, note_connected_machine};
use stoker_store::{List, StoreError};
use tokio::time::timeout;

use crate::agents::{Connection, CredentialDigest};
use crate::orchestrator::Orchestrator;
use crate::routing::handle_outputs;

/// Timeout for the hello after an agent has connected.
const HELLO_TIME_MAX: Duration = Duration::from_secs(20);
/// Interval at which silence timeouts are checked.
pub(crate) const WATCH_INTERVAL: Duration = Duration::from_secs(5);

/// Transport of one agent's messages. `server` implements it over a WebSocket; this crate implements it over
/// NATS and for agents in the server process.
pub trait AgentTransport: Send {
    /// Receives the next message; `None` when the connection is closed.
    fn receive(&mut self) -> impl Future<Output = Option<FromAgent>> + Send;
    /// Sends a message. Returns `false` if the connection is closed.
    fn send(&mut self, message: ToAgent) -> impl Future<Output = bool> + Send;
}

/// Serves the authenticated agent `uid` until either side closes the connection. `proof` is the digest of the
/// credential of the agent.
pub async fn serve_agent(
    orchestrator: &Orchestrator,
    uid: &AgentUid,
    proof: Option<CredentialDigest>,
    mut carrier: impl AgentTransport,
) {
    let Ok(Some(FromAgent::Hello(hello))) = timeout(HELLO_TIME_MAX, carrier.receive()).await else {
        tracing::warn!(agent.uid = uid.as_str(), "closed a connection: no hello in time");
        return;
    };
    if hello.node != *uid {
        tracing::warn!(
            agent.uid = uid.as_str(),
            hello.node = hello.node.as_str(),
            "closed a connection: hello of another agent"
        );
        return;
    }
    let Some(mut line) = orchestrator.agents.connect(uid, proof, orchestrator.context.clock.now()) else {
        tracing::info!(
            agent.uid = uid.as_str(),
            "closed a connection: another agent is joining for the node"
        );
        return;
    };
    tracing::info!(agent.uid = uid.as_str(), agent.version = hello.version, "agent connected");
    orchestrator.metrics.agents.connections.inc();
    // The credential may have been revoked since the handshake. From here on, a revocation closes the
    // connection.
    if is_valid(orchestrator, proof).await {
        orchestrator.peers.record_move(uid, line.id, true);
        note_machine(orchestrator, uid, proof.is_some(), &hello).await;
        handle_message(orchestrator, &line, FromAgent::Hello(hello)).await;
        orchestrator.local_agents.connected.notify_waiters();
        exchange(orchestrator, &mut line, &mut carrier).await;
    }
    orchestrator.agents.disconnect(&line, orchestrator.context.clock.now());
    orchestrator.peers.record_move(uid, line.id, false);
    tracing::info!(agent.uid = uid.as_str(), "agent disconnected");
}

/// Records the machine of an agent before its messages are handled, so that no result of a new machine counts for the
/// previous one.
async fn note_machine(orchestrator: &Orchestrator, uid: &AgentUid, has_joined: bool, hello: &Hello) {
    let context = &orchestrator.context;
    let origin = AgentOrigin::new(hello.journal_id.clone(), &hello.facts);
    match note_connected_machine(&context.store, context.clock, uid, has_joined, origin).await {
        Ok(false) => {}
        Ok(true) => {
            tracing::warn!(agent.uid = uid.as_str(), "machine replaced; applied states invalidated");
            context.services.webhooks.notify();
        }
        // The recorded machine stays the previous one, so the next connection detects the replacement.
        Err(error) => {
            tracing::warn!(agent.uid = uid.as_str(), error = %ErrorChain(&error), "cannot record the machine of an agent");
        }
    }
}

async fn is_valid(orchestrator: &Orchestrator, proof: Option<CredentialDigest>) -> bool {
    let Some(proof) = proof else { return true };
    match revoked(orchestrator, &[proof]).await {
        Ok(revoked) => revoked.is_empty(),
        // Fail open: an unavailable database must not disconnect agents.
        Err(error) => {
            tracing::warn!(error = %ErrorChain(&error), "cannot read whether an agent was revoked");
            true
        }
    }
}

/// Selects the revoked credentials.
async fn revoked(
    orchestrator: &Orchestrator,
    proofs: &[CredentialDigest],
) -> Result<Vec<CredentialDigest>, StoreError> {
    orchestrator.context.store.read().await?.agents_revoked(proofs).await
}

/// Closes the connections of agents whose credentials were revoked, possibly through another server.
async fn close_revoked(orchestrator: &Orchestrator) -> Result<(), StoreError> {
    let proofs = orchestrator.agents.credential_digests();
    if !proofs.is_empty() {
        let revoked = revoked(orchestrator, &proofs).await?;
        orchestrator.agents.close_all_with(&revoked, orchestrator.context.clock.now());
    }
    Ok(())
}

async fn exchange(orchestrator: &Orchestrator, line: &mut Connection, carrier: &mut impl AgentTransport) {
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
                    // An agent that disappeared without closing the connection blocks sends until the TCP
                    // timeout.
                    () = line.cut.notified() => return,
                }
            }
            () = line.cut.notified() => return,
        }
    }
}

async fn handle_message(orchestrator: &Orchestrator, line: &Connection, message: FromAgent) {
    if matches!(message, FromAgent::Heartbeat) {
        orchestrator.heartbeats.note(&line.uid);
    }
    // Another agent may have joined in its place through another server, whose notification is on its way or lost.
    if matches!(message, FromAgent::Finished(_))
        && orchestrator.context.is_shared
        && !is_valid(orchestrator, line.proof).await
    {
        tracing::warn!(agent.uid = line.uid.as_str(), "ignored the result of a revoked agent");
        return line.cut.notify_one();
    }
    let now = orchestrator.context.clock.now();
    let outputs = orchestrator.agents.step_from(line, Input::Message(message), now);
    handle_outputs(orchestrator, &line.uid, outputs).await;
}

/// Checks silence timeouts and revoked credentials periodically. Never returns.
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
        // If the database is not shared, every revocation goes through this server, which closes the connection.
        if orchestrator.context.is_shared {
            passed = passed.and(close_revoked(orchestrator).await);
        }
        if let Err(error) = &passed {
            tracing::warn!(error = %ErrorChain(error), "cannot read which agents are expected or revoked");
        }
        for (uid, outputs) in orchestrator.agents.step_all(&Input::Wake, orchestrator.context.clock.now()) {
            handle_outputs(orchestrator, &uid, outputs).await;
        }
        monitor.finish(&passed);
    }
}

/// Starts the silence timeout of every agent that has joined, so that an agent that was connected before this
/// server started and does not reconnect to any server is reported as lost.
async fn expect_all(orchestrator: &Orchestrator) -> Result<(), StoreError> {
    let agents = orchestrator.context.store.read().await?.agent_list(None, &List::default()).await?;
    let now = orchestrator.context.clock.now();
    agents.items.iter().for_each(|agent| _ = orchestrator.agents.is_lost(&agent.uid, now));
    Ok(())
}
