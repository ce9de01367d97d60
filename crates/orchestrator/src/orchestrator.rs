//! Composes the components of the orchestrator. Higher modules use it to execute runs; the components do not
//! depend on it.

use std::collections::HashSet;
use std::ops::Deref;
use std::sync::Arc;

use parking_lot::Mutex;
use stoker_bus::Bus;
use stoker_model::{AgentUid, ErrorChain, RunId};
use stoker_services::background::BackgroundTasks;
use stoker_services::{FairSemaphore, ServiceError};
use tokio::sync::Semaphore;

use crate::agents::{Agents, Heartbeats, OutputWriter, PendingChecks, Presence};
use crate::context::OrchestratorContext;
use crate::event_feed::EventFeed;
use crate::leases::Leases;
use crate::local_agents::LocalAgents;
use crate::metrics::OrchestratorMetrics;
use crate::nats::{self, NatsHosting, NatsStartError, NatsUsers};
use crate::peers::{PeerMessage, Peers, Seal};

/// Number of runs that write to the database concurrently. The database serializes writers; with two, the
/// next transaction is already prepared when the current one commits.
const CONCURRENT_WRITERS: usize = 2;

/// Cloning is cheap.
#[derive(Clone)]
pub struct Orchestrator(Arc<OrchestratorInner>);

pub struct OrchestratorInner {
    pub context: OrchestratorContext,
    pub agents: Agents,
    pub local_agents: LocalAgents,
    pub(crate) heartbeats: Heartbeats,
    pub(crate) presence: Presence,
    pub(crate) checks: PendingChecks,
    pub(crate) output: OutputWriter,
    pub event_feed: EventFeed,
    pub background: BackgroundTasks,
    pub(crate) leases: Leases,
    pub peers: Peers,
    /// Schedules writers fairly by cluster, so that a cluster with many runs does not starve one with a
    /// single run.
    pub(crate) writers: FairSemaphore,
    /// Limits the number of module lists in flight.
    pub(crate) module_slots: Semaphore,
    /// Runs that this server drives.
    pub(crate) conducted: Mutex<HashSet<RunId>>,
    /// Carries messages to and from agents and other servers.
    pub bus: Bus,
    /// Issues NATS users to agents; `None` if agents cannot connect over NATS.
    pub nats_users: Option<NatsUsers>,
    pub(crate) nats_hosting: NatsHosting,
    pub metrics: OrchestratorMetrics,
    /// Clears the local cache of authentication tokens. Also called when a peer reports that tokens changed.
    pub(crate) forget_tokens: Box<dyn Fn() + Send + Sync>,
}

/// Reason why the orchestrator cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Nats(#[from] NatsStartError),
    #[error(transparent)]
    Service(#[from] ServiceError),
}

impl Orchestrator {
    /// Connects to the bus. No run is executed before [`crate::lifecycle::start`].
    pub async fn open(
        context: OrchestratorContext,
        forget_tokens: Box<dyn Fn() + Send + Sync>,
    ) -> Result<Self, StartError> {
        let (bus, nats_users) = nats::connect(context.settings.nats.as_ref()).await?;
        // An in-memory bus reaches no other server.
        let peer_bus = match &context.settings.nats {
            Some(_) if context.is_shared => {
                Some((bus.clone(), Seal::agree(&context.store, context.clock.now()).await?))
            }
            _ => None,
        };
        let module_slots = Semaphore::new(context.settings.runs.max_concurrent_nodes as usize);
        Ok(Self(Arc::new(OrchestratorInner {
            agents: Agents::default(),
            local_agents: LocalAgents::default(),
            heartbeats: Heartbeats::default(),
            presence: Presence::default(),
            checks: PendingChecks::default(),
            output: OutputWriter::default(),
            event_feed: EventFeed::default(),
            background: BackgroundTasks::default(),
            leases: Leases::new(context.clone()),
            peers: Peers::new(context.clone(), peer_bus),
            writers: FairSemaphore::new(CONCURRENT_WRITERS),
            module_slots,
            conducted: Mutex::default(),
            bus,
            nats_users,
            nats_hosting: NatsHosting::default(),
            metrics: OrchestratorMetrics::default(),
            forget_tokens,
            context,
        })))
    }

    /// Wakes the watchers of a run on all servers.
    pub(crate) fn notify_watchers(&self, run: RunId) {
        self.event_feed.notify(run);
        self.peers.notify_all(&PeerMessage::News { run: run.0 });
    }

    /// Clears the cache of authentication tokens on all servers.
    pub fn clear_token_cache(&self) {
        (self.forget_tokens)();
        self.peers.send_all(&PeerMessage::ForgetTokens);
    }

    /// Closes the connection of an agent to this server. A local agent is stopped if this server should no
    /// longer run it.
    pub(crate) fn close_here(&self, uid: &AgentUid) {
        self.local_agents.recheck(uid);
        self.agents.close(uid, self.context.clock.now());
    }

    /// Closes the connection of an agent on whichever server hosts it.
    pub fn close_agent(&self, uid: &AgentUid) {
        self.close_here(uid);
        self.peers.send_all(&PeerMessage::CloseAgent { uid: uid.clone() });
    }

    /// Closes the connection of an agent whose credential was revoked, and revokes its NATS user. `digest` is
    /// the digest of the revoked credential.
    pub fn revoke_agent(&self, uid: &AgentUid, digest: Option<String>) {
        self.close_agent(uid);
        let (Some(users), Some(digest)) = (self.nats_users.clone(), digest) else { return };
        let (uid, now) = (uid.clone(), self.context.clock.now());
        self.background.spawn(async move {
            if let Err(error) = users.revoke(&uid, &digest, now).await {
                tracing::warn!(agent.uid = uid.as_str(), error = %ErrorChain(&error), "cannot revoke the NATS user of an agent");
            }
        });
    }
}

impl Deref for Orchestrator {
    type Target = OrchestratorInner;

    fn deref(&self) -> &OrchestratorInner {
        &self.0
    }
}
