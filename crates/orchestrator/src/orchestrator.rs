//! The parts of the orchestrator, composed. Modules above this one carry out runs with them; modules below do not know it.

use std::collections::HashSet;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use stoker_bus::Bus;
use stoker_model::RunId;
use stoker_services::background::BackgroundTasks;
use stoker_services::{FairSemaphore, ServiceError};
use tokio::sync::Semaphore;

use crate::agents::{Agents, Heartbeats, OutputWriter, Presence};
use crate::context::OrchestratorContext;
use crate::event_feed::EventFeed;
use crate::leases::Leases;
use crate::local_agents::LocalAgents;
use crate::metrics::OrchestratorMetrics;
use crate::nats::{self, NatsFailed, NatsHosting, NatsUsers};
use crate::peers::{PeerMessage, Peers, Seal};

/// Runs that write at the same time. The database serializes writers; the second is ready when the first is done.
const WRITERS_AT_ONCE: usize = 2;

/// Cloning is cheap.
#[derive(Clone)]
pub struct Orchestrator(Arc<OrchestratorParts>);

pub struct OrchestratorParts {
    pub context: OrchestratorContext,
    pub agents: Agents,
    pub local_agents: LocalAgents,
    pub(crate) heartbeats: Heartbeats,
    pub(crate) presence: Presence,
    pub(crate) output: OutputWriter,
    pub event_feed: EventFeed,
    pub background: BackgroundTasks,
    pub(crate) leases: Leases,
    pub peers: Peers,
    /// Which run writes next: a cluster with many runs waits as long as one with a single run.
    pub(crate) writers: FairSemaphore,
    /// Module lists in flight.
    pub(crate) module_slots: Semaphore,
    /// Runs that this server drives.
    pub(crate) conducted: Mutex<HashSet<RunId>>,
    /// Messages to and from other servers and agents.
    pub bus: Bus,
    /// Issues users of NATS, where agents may connect over it.
    pub nats_users: Option<NatsUsers>,
    pub(crate) nats_hosting: NatsHosting,
    pub metrics: OrchestratorMetrics,
    /// Drops cached logins, on behalf of a peer that changed one.
    pub(crate) forget_tokens: Box<dyn Fn() + Send + Sync>,
}

/// Why the orchestrator cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Nats(#[from] NatsFailed),
    #[error(transparent)]
    Service(#[from] ServiceError),
}

impl Orchestrator {
    /// Connects to the bus. Nothing is carried out before [`crate::lifecycle::start`].
    pub async fn open(
        context: OrchestratorContext,
        forget_tokens: Box<dyn Fn() + Send + Sync>,
    ) -> Result<Self, StartError> {
        let (bus, nats_users) = nats::connect(context.settings.nats.as_ref()).await?;
        // A bus inside of this process reaches no other server.
        let peer_bus = match &context.settings.nats {
            Some(_) if context.is_shared => {
                Some((bus.clone(), Seal::agree(&context.store, context.clock.now()).await?))
            }
            _ => None,
        };
        let module_slots = Semaphore::new(context.settings.runs.nodes_at_once as usize);
        Ok(Self(Arc::new(OrchestratorParts {
            agents: Agents::default(),
            local_agents: LocalAgents::default(),
            heartbeats: Heartbeats::default(),
            presence: Presence::default(),
            output: OutputWriter::default(),
            event_feed: EventFeed::default(),
            background: BackgroundTasks::default(),
            leases: Leases::new(context.clone()),
            peers: Peers::new(context.clone(), peer_bus),
            writers: FairSemaphore::new(WRITERS_AT_ONCE),
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

    /// Wakes whoever watches a run, on all servers.
    pub(crate) fn notify_watchers(&self, run: RunId) {
        self.event_feed.notify(run);
        self.peers.ring(&PeerMessage::News { run: run.0 });
    }

    /// Drops cached logins on all servers.
    pub fn forget_tokens(&self) {
        (self.forget_tokens)();
        self.peers.send_all(&PeerMessage::ForgetTokens);
    }

    /// Closes the connection of an agent with this server. A local agent stays only where it still belongs.
    pub(crate) fn close_here(&self, uid: &str) {
        self.local_agents.reconsider(uid);
        self.agents.close(uid);
    }

    /// Closes the connection of an agent, whichever server has it.
    pub fn close_agent(&self, uid: &str) {
        self.close_here(uid);
        self.peers.send_all(&PeerMessage::CloseAgent { uid: uid.to_owned() });
    }

    /// Closes the connection of an agent whose credential was revoked, and revokes its user of NATS. `digest` is that of the
    /// credential.
    pub fn dismiss_agent(&self, uid: &str, digest: Option<String>) {
        self.close_agent(uid);
        let (Some(users), Some(digest)) = (self.nats_users.clone(), digest) else { return };
        let (uid, now) = (uid.to_owned(), self.context.clock.now());
        self.background.spawn(async move {
            if let Err(error) = users.revoke(&uid, &digest, now).await {
                tracing::warn!(agent.uid = uid, error = %error, "cannot revoke the NATS user of an agent");
            }
        });
    }
}

impl Deref for Orchestrator {
    type Target = OrchestratorParts;

    fn deref(&self) -> &OrchestratorParts {
        &self.0
    }
}
