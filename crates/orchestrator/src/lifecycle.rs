//! Starts and stops all background tasks of the orchestrator.

use stoker_model::ErrorChain;
use stoker_services::webhooks;

use crate::orchestrator::Orchestrator;
use crate::peers::{self, PeerMessage};
use crate::{agents, nats_inbox, peer_inbox, runs, session};

/// Starts all background tasks.
pub fn start(orchestrator: &Orchestrator) {
    let (context, background) = (&orchestrator.context, &orchestrator.background);
    let renewal = Some(context.lease_renewal());
    if context.is_shared {
        let this = orchestrator.clone();
        background.run("peer heartbeat", renewal, |monitor| async move { this.peers.beat(&monitor).await });
        let this = orchestrator.clone();
        background.run(
            "agent locations",
            None,
            |monitor| async move { this.peers.write_moves(&monitor).await },
        );
        let this = orchestrator.clone();
        background.run("peer outbox", None, |monitor| async move { this.peers.send_queued(&monitor).await });
        let this = orchestrator.clone();
        let period = Some(peers::MEMBERS_INTERVAL);
        background.run(
            "peer inbox",
            period,
            |monitor| async move { peer_inbox::poll(&this, &monitor).await },
        );
        if orchestrator.peers.has_bus() {
            let this = orchestrator.clone();
            background.run(
                "peer bus",
                None,
                |monitor| async move { peer_inbox::listen(&this, &monitor).await },
            );
        }
    }
    let this = orchestrator.clone();
    background.run("run leases", renewal, |monitor| async move { this.leases.renew_all(&monitor).await });
    let this = orchestrator.clone();
    background.run(
        "task output",
        None,
        |monitor| async move { this.output.write(&this.context, &monitor).await },
    );
    let this = orchestrator.clone();
    let period = Some(agents::HEARTBEATS_INTERVAL);
    background.run("agent heartbeats", period, |monitor| async move {
        this.heartbeats.write(&this.context, &monitor).await;
    });
    let this = orchestrator.clone();
    background.run("agent presence", None, |monitor| async move {
        this.presence.write(&this.context, &monitor).await;
    });
    let this = orchestrator.clone();
    let period = Some(session::WATCH_INTERVAL);
    background.run("agent sessions", period, |monitor| async move { session::watch(&this, &monitor).await });
    let outbox = context.services.webhooks.clone();
    let period = Some(webhooks::INTERVAL);
    background.run("webhooks", period, |monitor| async move { webhooks::run(outbox, monitor).await });
    if let Some(users) = orchestrator.nats_users.clone() {
        let (this, owned) = (orchestrator.clone(), users.clone());
        background.run("nats sessions", None, |monitor| async move {
            nats_inbox::host(&this, &owned, &monitor).await;
        });
        let this = orchestrator.clone();
        background.run("nats results", None, |monitor| async move {
            nats_inbox::take_results(&this, &users, &monitor).await;
        });
    }
    let this = orchestrator.clone();
    let period = Some(runs::take_over_interval(context));
    background.run("run takeover", period, |monitor| async move { runs::take_over(&this, &monitor).await });
}

/// Aborts all background tasks immediately. Another server, or this server after a restart, continues
/// committed work.
pub fn stop(orchestrator: &Orchestrator) {
    orchestrator.background.stop();
}

/// Releases all leases of this server and notifies the other servers.
pub async fn release_leases(orchestrator: &Orchestrator) {
    let context = &orchestrator.context;
    if !context.is_shared {
        return;
    }
    if let Err(error) = context.store.server_leave(&context.owner, context.clock.now()).await {
        tracing::warn!(error = %ErrorChain(&error), "cannot release leases; they expire by themselves");
        return;
    }
    orchestrator.peers.send_now(&PeerMessage::TakeUp).await;
}

/// Waits, with timeouts, until agents in the server process have ended and agents on NATS are notified.
pub async fn wait_for_agents(orchestrator: &Orchestrator) {
    orchestrator.local_agents.wait_ended().await;
    orchestrator.nats_hosting.ended().await;
}
