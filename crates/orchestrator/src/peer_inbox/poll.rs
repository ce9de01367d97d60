//! Polls the database for live servers, agent locations and messages.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use stoker_model::{AgentHost, AgentUid, ErrorChain, ServerRecord};
use stoker_services::Clock;
use stoker_services::background::TaskMonitor;
use stoker_store::StoreError;

use super::handle::handle_message;
use crate::agents::Command;
use crate::orchestrator::Orchestrator;
use crate::peers::{Envelope, MEMBERS_INTERVAL};
use crate::routing::resend_unacked;

/// Bounds of the poll interval: minimal after activity, doubled after each idle poll.
const POLL_MIN: Duration = Duration::from_millis(20);
const POLL_MAX: Duration = Duration::from_millis(500);
const MESSAGES_MAX: u32 = 500;
/// Interval at which handled messages are acknowledged.
const DONE_INTERVAL: Duration = Duration::from_secs(2);
/// Cursor and schedule of the poller.
struct Reader {
    mail: i64,
    is_done: bool,
    members_at: Option<Instant>,
    done_at: Instant,
    owed_at: Instant,
}

/// Polls until the server stops.
pub(crate) async fn poll(orchestrator: &Orchestrator, monitor: &TaskMonitor) {
    let now = Clock::instant();
    let mut reader = Reader { mail: 0, is_done: true, members_at: None, done_at: now, owed_at: now };
    let mut pause = POLL_MAX;
    loop {
        monitor.start();
        let read = reader.look(orchestrator).await;
        monitor.finish(&read);
        match read {
            Ok(0) => pause = (pause * 2).min(POLL_MAX),
            Ok(_) => pause = POLL_MIN,
            Err(error) => {
                tracing::warn!(error = %ErrorChain(&error), "cannot read messages from peers");
                pause = POLL_MAX;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = orchestrator.peers.poll_now.notified() => {
                pause = POLL_MIN;
                tokio::time::sleep(pause).await;
            }
        }
    }
}

impl Reader {
    /// Polls once. Returns the number of messages and location changes.
    async fn look(&mut self, orchestrator: &Orchestrator) -> Result<usize, StoreError> {
        let mut session = orchestrator.context.store.read().await?;
        if self.members_at.is_none_or(|at| at.elapsed() >= MEMBERS_INTERVAL) {
            let members = session.servers().await?;
            self.members_at = Some(Clock::instant());
            note_members(orchestrator, &members).await;
        }
        if orchestrator.peers.others().is_empty() {
            return Ok(0);
        }
        let after = orchestrator.peers.table().number;
        let hosts = session.agent_hosts_since(after).await?;
        let mail = session.mail_since(&orchestrator.context.owner, self.mail, MESSAGES_MAX).await?;
        drop(session);
        let n_found = hosts.len() + mail.len();
        note_hosts(orchestrator, hosts).await;
        for letter in mail {
            self.mail = letter.id;
            self.is_done = false;
            if let Some(envelope) = Envelope::decode(letter.body.as_bytes()) {
                handle_message(orchestrator, envelope).await;
            }
        }
        if !self.is_done && self.done_at.elapsed() >= DONE_INTERVAL {
            orchestrator
                .context
                .store
                .mail_ack(&orchestrator.context.owner, self.mail, orchestrator.context.clock.now())
                .await?;
            (self.is_done, self.done_at) = (true, Clock::instant());
        }
        if self.owed_at.elapsed() >= MEMBERS_INTERVAL {
            self.owed_at = Clock::instant();
            resend_unacked(orchestrator).await;
        }
        Ok(n_found)
    }
}

/// Updates the live servers. When servers join or leave, the locations of their agents are recomputed.
async fn note_members(orchestrator: &Orchestrator, members: &[ServerRecord]) {
    let heard_since = orchestrator.context.alive_since(orchestrator.context.clock.now());
    let others: HashMap<Arc<str>, bool> = members
        .iter()
        .filter(|member| member.heartbeat_at > heard_since && member.id != orchestrator.context.owner)
        .map(|member| (member.id.as_str().into(), member.receives_bus))
        .collect();
    let affected: Vec<AgentUid> = {
        let mut table = orchestrator.peers.table();
        let is_same = table.others.len() == others.len()
            && others.keys().all(|server| table.others.contains_key(server));
        if is_same {
            table.others = others;
            return;
        }
        let before: HashSet<Arc<str>> = table.others.keys().cloned().collect();
        table.others = others;
        let has_changed = |server: &Arc<str>| before.contains(server) != table.others.contains_key(server);
        let hosts = table.hosts.iter().filter(|(_, server)| has_changed(server));
        hosts.map(|(uid, _)| uid.clone()).collect()
    };
    tracing::info!(n_others = orchestrator.peers.others().len(), "the set of active servers has changed");
    place(orchestrator, affected).await;
    orchestrator.peers.take_over.notify_one();
}

async fn note_hosts(orchestrator: &Orchestrator, hosts: Vec<AgentHost>) {
    let mut changed = Vec::with_capacity(hosts.len());
    {
        let mut table = orchestrator.peers.table();
        for host in hosts {
            table.number = host.number;
            let before = match &host.server_id {
                Some(server) => table.hosts.insert(host.uid.clone(), server.as_str().into()),
                None => table.hosts.remove(&host.uid),
            };
            let was_here = before.is_some_and(|server| *server == *orchestrator.context.owner);
            let is_away = host.server_id.is_some_and(|server| server != orchestrator.context.owner);
            if was_here && is_away {
                // The agent has connected to another server; its connection here is stale.
                orchestrator.agents.close(&host.uid, orchestrator.context.clock.now());
            }
            changed.push(host.uid);
        }
    }
    place(orchestrator, changed).await;
}

/// Recomputes the locations of agents and notifies the drivers on this server of changes.
async fn place(orchestrator: &Orchestrator, uids: Vec<AgentUid>) {
    let now = orchestrator.context.clock.now();
    for uid in uids {
        let (host, is_live) = {
            let table = orchestrator.peers.table();
            let host = table.hosts.get(&uid).cloned();
            let is_live = host.as_ref().is_some_and(|server| table.others.contains_key(server));
            (host, is_live)
        };
        let is_ours = host.as_ref().is_some_and(|server| **server == *orchestrator.context.owner);
        let was_away = orchestrator.agents.is_hosted_elsewhere(&uid);
        if orchestrator.agents.set_elsewhere(&uid, host.as_ref().filter(|_| is_live), now) {
            for inbox in orchestrator.agents.runs() {
                _ = inbox.send(Command::AgentBack { uid: uid.clone() }).await;
            }
        } else if was_away && !is_live {
            for inbox in orchestrator.agents.runs() {
                _ = inbox.send(Command::AgentGone { uid: uid.clone() }).await;
            }
        }
        if !is_ours
            && !is_live
            && let Some(line) = orchestrator.agents.line_id(&uid)
        {
            // A former host reported the disconnect late; record the connection to this server again.
            orchestrator.peers.record_move(&uid, line, true);
        }
    }
}
