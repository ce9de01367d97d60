//! Starts and serves local agents, for as long as this server should run them.

use std::pin::Pin;

use stoker_engine::session::{Attempt, FromAgent, Mode, ToAgent};
use stoker_model::{AgentUid, ErrorChain, Node};
use stoker_store::{Session, StoreError};
use tokio::sync::{Notify, mpsc};

use crate::local_agents::{AgentPlace, LocalAgent, LocalConnection, connections, parse_ssh_location};
use crate::orchestrator::Orchestrator;
use crate::session::{AgentTransport, serve_agent};

/// Minimum time in seconds without a heartbeat after which an agent counts as unreachable. Heartbeats are
/// written periodically, so a shorter silence is inconclusive.
const SEEN_SECONDS_MIN: i64 = 60;

impl AgentTransport for LocalConnection {
    async fn receive(&mut self) -> Option<FromAgent> {
        self.receive.recv().await
    }

    async fn send(&mut self, message: ToAgent) -> bool {
        self.send.send(message).await.is_ok()
    }
}

/// Starts the agent of a node if this server should run it and the agent is neither connected nor started.
pub(crate) async fn ensure_agent(orchestrator: &Orchestrator, uid: &AgentUid) {
    let local_agents = &orchestrator.local_agents;
    if local_agents.spawner().is_none()
        || orchestrator.agents.is_connected(uid)
        || local_agents.is_started(uid)
    {
        return;
    }
    let place = match place_of(orchestrator, uid).await {
        Ok(Some(place)) => place,
        Ok(None) => return,
        Err(error) => {
            tracing::warn!(error = %ErrorChain(&error), agent.uid = uid.as_str(), "cannot read whether to start an agent for the node");
            return;
        }
    };
    start_agent(orchestrator, uid, place);
}

/// Starts the agent of a node at its place, unless it is started already.
pub(crate) fn start_agent(orchestrator: &Orchestrator, uid: &AgentUid, place: AgentPlace) {
    let Some(spawner) = orchestrator.local_agents.spawner() else { return };
    let is_inside = matches!(place, AgentPlace::Here { .. });
    let Some(bell) = orchestrator.local_agents.start(uid, is_inside) else { return };
    let (connections, accepted) = connections();
    let Some(guard) = orchestrator.local_agents.guard() else { return };
    let tracer = orchestrator.context.tracer.clone();
    spawner(LocalAgent { uid: uid.clone(), place: place.clone(), guard, connections, tracer });
    let (worker, uid) = (orchestrator.clone(), uid.clone());
    orchestrator
        .background
        .spawn(async move { serve_local_agent(&worker, &uid, &place, accepted, &bell).await });
}

/// Serves a local agent until it ends or its configured location changes.
async fn serve_local_agent(
    orchestrator: &Orchestrator,
    uid: &AgentUid,
    place: &AgentPlace,
    mut accepted: mpsc::Receiver<LocalConnection>,
    bell: &Notify,
) {
    let has_moved = loop {
        let connection = tokio::select! {
            connection = accepted.recv() => match connection {
                Some(connection) => Some(connection),
                None => break false,
            },
            () = bell.notified() => None,
        };
        // If the database is unavailable, assume that the location is unchanged.
        if place_of(orchestrator, uid).await.is_ok_and(|now| now.as_ref() != Some(place)) {
            break true;
        }
        if let Some(connection) = connection {
            serve_agent(orchestrator, uid, None, connection).await;
        }
    };
    // Dropping the receiver ends the agent and its tasks.
    drop(accepted);
    orchestrator.local_agents.end(uid);
    if has_moved {
        tracing::info!(agent.uid = uid.as_str(), "the transport of a node changed; restarting its agent");
        restart(orchestrator, uid).await;
    }
}

/// Starts the agent again. Boxed, because `ensure_agent` and `keep_agent` are mutually recursive.
fn restart<'a>(
    orchestrator: &'a Orchestrator,
    uid: &'a AgentUid,
) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
    Box::pin(ensure_agent(orchestrator, uid))
}

/// Returns the reason to refuse an attempt: a `reboot` task on an agent in the server process would restart
/// the server's machine instead of the node.
pub(crate) fn not_here(orchestrator: &Orchestrator, uid: &AgentUid, attempt: &Attempt) -> Option<String> {
    let is_dangerous = attempt.task_type == "reboot" && attempt.mode == Mode::Normal;
    let is_hooked = orchestrator.context.settings.runs.hooks.contains_key("reboot");
    (is_dangerous && !is_hooked && orchestrator.local_agents.is_in_process(uid)).then(|| {
        "cannot reboot: the agent of this node runs inside the server process; start the server with \
         `--hook reboot=PATH`, or start an agent on the node"
            .to_owned()
    })
}

/// Reports whether the results of a node's agent are irrecoverable: the agent ran in the process of another
/// server, and its journal is on the disk of that machine.
pub(crate) async fn is_orphaned(orchestrator: &Orchestrator, uid: &AgentUid) -> bool {
    if !orchestrator.context.is_shared
        || !matches!(place_of(orchestrator, uid).await, Ok(Some(AgentPlace::Here { .. })))
    {
        return false;
    }
    let read = async {
        let mut session = orchestrator.context.store.read().await?;
        Ok::<_, StoreError>((session.agent_host_get(uid).await?, session.servers().await?))
    };
    let Ok((host, servers)) = read.await else { return false };
    let Some(former) =
        host.and_then(|host| host.server_id).filter(|server| *server != orchestrator.context.owner)
    else {
        return false;
    };
    // A server that restarted on the same machine still has the journal.
    let me = orchestrator.peers.member();
    !servers
        .iter()
        .any(|server| server.id == former && server.name == me.name && server.address == me.address)
}

/// Reports whether a node has a reachable agent: connected, seen recently by any server, or startable by this
/// server.
pub async fn has_reachable_agent(
    orchestrator: &Orchestrator,
    session: &mut Session,
    node: &Node,
) -> Result<bool, StoreError> {
    let uid = AgentUid::from(node.id);
    if orchestrator.agents.is_connected(&uid) {
        return Ok(true);
    }
    if let Some(agent) = session.agent_by_uid(&uid).await? {
        let silence_max =
            i64::from(orchestrator.context.settings.runs.lost_after_seconds).max(SEEN_SECONDS_MIN);
        let heard_at = agent.last_seen_at.unwrap_or(agent.joined_at);
        return Ok(heard_at.plus_seconds(silence_max) > orchestrator.context.clock.now());
    }
    Ok(orchestrator.local_agents.spawner().is_some()
        && place_in(orchestrator, session, &uid).await?.is_some())
}

async fn place_of(orchestrator: &Orchestrator, uid: &AgentUid) -> Result<Option<AgentPlace>, StoreError> {
    place_in(orchestrator, &mut orchestrator.context.store.read().await?, uid).await
}

/// Returns the location at which this server should run the agent of a node; `None` if it should not run it.
pub(crate) async fn place_in(
    orchestrator: &Orchestrator,
    session: &mut Session,
    uid: &AgentUid,
) -> Result<Option<AgentPlace>, StoreError> {
    let runs = &orchestrator.context.settings.runs;
    let here =
        || AgentPlace::Here { folder: runs.agents_folder.join(uid.as_str()), hooks: runs.hooks.clone() };
    // A node whose separate agent has joined gets no local agent.
    if session.agent_by_uid(uid).await?.is_some() {
        return Ok(None);
    }
    let Some(id) = uid.node_id() else { return Ok(runs.master_agent.then(here)) };
    let Some(node) = session.node_get(id).await? else { return Ok(None) };
    Ok(match parse_ssh_location(&node) {
        Ok(Some(place)) => Some(place),
        Ok(None) => runs.local_agents.then(here),
        Err(problems) => {
            let why: Vec<String> = problems.into_iter().map(|problem| problem.message).collect();
            tracing::warn!(
                agent.uid = uid.as_str(),
                why = why.join("; "),
                "cannot determine the transport of the node"
            );
            None
        }
    })
}
