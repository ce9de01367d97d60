//! Machines of agents that this server starts itself. They connect when a run needs them, so without a check a plan could
//! rely on applied states of a machine that was replaced in the meantime.

use std::time::Duration;

use stoker_model::{AgentUid, ClusterId};
use stoker_store::StoreError;
use tokio::time::timeout_at;

use crate::agent_launcher::{place_in, start_agent};
use crate::local_agents::AgentPlace;
use crate::orchestrator::Orchestrator;

/// Maximum time from the start of an agent for which a plan waits for its connection: several SSH handshakes. An agent
/// that has been unreachable for longer delays no plan.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);

/// Starts the agents of a cluster that this server runs and that are not connected, and waits until their machines are
/// compared with those of their last connections. Returns the online nodes whose agents did not connect.
pub async fn verify_machines(
    orchestrator: &Orchestrator,
    cluster: ClusterId,
) -> Result<Vec<AgentUid>, StoreError> {
    if orchestrator.local_agents.spawner().is_none() {
        return Ok(Vec::new());
    }
    let mut session = orchestrator.context.store.read().await?;
    let mut places = Vec::new();
    for (uid, is_online) in session.agent_machines_to_verify(cluster).await? {
        if orchestrator.agents.is_greeted(&uid) {
            continue;
        }
        let place = place_in(orchestrator, &mut session, &uid).await?;
        places.extend(
            place.filter(|place| has_own_machine(orchestrator, place)).map(|place| (uid, is_online, place)),
        );
    }
    drop(session);
    let mut unverified = Vec::new();
    for (uid, is_online, place) in places {
        start_agent(orchestrator, &uid, place);
        // Plans exclude nodes that are offline; their agents reconnect when they can.
        if is_online {
            unverified.push(uid);
        }
    }
    wait_connected(orchestrator, &mut unverified).await;
    Ok(unverified)
}

/// Whether another machine id means that the machine was replaced. An agent in the process of a server is on the machine
/// of that server, which is another one after a takeover.
fn has_own_machine(orchestrator: &Orchestrator, place: &AgentPlace) -> bool {
    matches!(place, AgentPlace::Ssh { .. }) || !orchestrator.context.is_shared
}

/// Waits for agents and removes those that are connected.
async fn wait_connected(orchestrator: &Orchestrator, agents: &mut Vec<AgentUid>) {
    loop {
        let mut connected = std::pin::pin!(orchestrator.local_agents.connected.notified());
        // Registered before the check, so that no notification in between is lost.
        connected.as_mut().enable();
        agents.retain(|uid| !orchestrator.agents.is_greeted(uid));
        let started = agents.iter().filter_map(|uid| orchestrator.local_agents.started_at(uid));
        let Some(last) = started.max() else { return };
        if timeout_at(last + CONNECT_TIME_MAX, connected).await.is_err() {
            return;
        }
    }
}
