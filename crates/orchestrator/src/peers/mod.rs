//! Sends messages to the servers that share the database.
//!
//! An agent is connected to one server, its *host*; a run is executed by one server, its *driver*, as long as
//! that server holds the lease. Host and driver exchange messages over the bus if both are connected to it,
//! otherwise through a database table that every server polls. Messages are never the source of truth:
//! decisions are committed before messages about them are sent, and agent hosts and live servers are recorded
//! in tables that every server polls.
//!
//! ```text
//! driver ── dispatch, claim, acknowledge ──▶ host ◀─▶ an agent
//!        ◀── deliver, started, finished ────
//! ```
//!
//! A driver repeats its claim for attempts that have not started, and claims all attempts in flight when the
//! agent gets a new host. A host resends a result until it is acknowledged. A server without peers sends no
//! messages and reads the list of servers once a second.
//!
//! Incoming messages are handled by `peer_inbox`.

mod message;
mod seal;
mod transport;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use stoker_bus::Bus;
use stoker_engine::session::{AttemptResult, FromAgent};
use stoker_model::{AgentConnectionChange, AgentUid, ErrorChain, RunId, ServerRecord};
use stoker_services::background::TaskMonitor;
use stoker_wire::encode_from_agent;
use tokio::sync::{Notify, mpsc, oneshot};

pub(crate) use message::{Envelope, Flight, PeerMessage, RunControl};
pub(crate) use seal::Seal;
use transport::Outgoing;

use crate::agents::RunResponse;
use crate::context::OrchestratorContext;

/// Capacity of the send queue. Messages are dropped while it is full, because senders repeat important
/// messages.
const QUEUE_MAX: usize = 65_536;
/// Number of recent requests whose responses are cached to deduplicate retries.
const ANSWERED_MAX: usize = 1024;
/// Maximum number of runs in the driver cache. A full cache is cleared.
const DRIVERS_MAX: usize = 10_000;
/// Response timeout after which a request is retried.
const REPEAT_AFTER: Duration = Duration::from_secs(3);
/// Interval at which the list of live servers is read.
pub(crate) const MEMBERS_INTERVAL: Duration = Duration::from_secs(1);
/// Delay before a retry while the database is unavailable.
const PAUSE: Duration = Duration::from_millis(500);

pub struct Peers {
    context: OrchestratorContext,
    /// Delivers messages faster than the database; the seal authenticates their sender. `None` without NATS.
    pub(crate) bus: Option<(Bus, Seal)>,
    outgoing: mpsc::Sender<Outgoing>,
    /// Receiver of the queue, until the sender task takes it at startup.
    queue: Mutex<Option<mpsc::Receiver<Outgoing>>>,
    table: Mutex<PeerTable>,
    /// Connects and disconnects of agents that are not written yet.
    moves: Mutex<Vec<AgentConnectionChange>>,
    has_moves: Notify,
    /// Wakes the poller: messages may be in the database.
    pub(crate) poll_now: Notify,
    /// Wakes the takeover task: runs without a driver may exist.
    pub(crate) take_over: Notify,
    pending: Mutex<HashMap<u64, oneshot::Sender<RunResponse>>>,
    next_request: AtomicU64,
    answered: Mutex<VecDeque<(RequestId, Option<RunResponse>)>>,
}

/// Identifies a request of another server, so that a retry is recognized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestId {
    /// ID of the requesting server.
    pub(crate) server: String,
    /// Number of the request, assigned by that server.
    pub(crate) number: u64,
}

/// Cached state of the other servers.
#[derive(Default)]
pub(crate) struct PeerTable {
    /// Live servers, and whether each is connected to the bus.
    pub(crate) others: HashMap<Arc<str>, bool>,
    /// Host of each agent, as last read.
    pub(crate) hosts: HashMap<AgentUid, Arc<str>>,
    /// Change number of the latest entry of `hosts`; cursor of the next read.
    pub(crate) number: i64,
    drivers: HashMap<RunId, Arc<str>>,
}

impl Peers {
    pub(crate) fn new(context: OrchestratorContext, bus: Option<(Bus, Seal)>) -> Self {
        let (outgoing, queue) = mpsc::channel(QUEUE_MAX);
        Self {
            context,
            bus,
            outgoing,
            queue: Mutex::new(Some(queue)),
            table: Mutex::default(),
            moves: Mutex::default(),
            has_moves: Notify::new(),
            poll_now: Notify::new(),
            take_over: Notify::new(),
            pending: Mutex::default(),
            next_request: AtomicU64::new(1),
            answered: Mutex::default(),
        }
    }

    pub(crate) fn has_bus(&self) -> bool {
        self.bus.is_some()
    }

    /// Queues a connect or disconnect of an agent to be written.
    pub(crate) fn record_move(&self, uid: &AgentUid, connection: u64, is_connected: bool) {
        if !self.context.is_shared {
            return;
        }
        let connection = i64::try_from(connection).unwrap_or(i64::MAX);
        let change = AgentConnectionChange { uid: uid.clone(), connection, is_connected };
        self.moves.lock().push(change);
        self.has_moves.notify_one();
    }

    /// Writes queued connects and disconnects of agents. Never returns.
    pub(crate) async fn write_moves(&self, monitor: &TaskMonitor) {
        loop {
            self.has_moves.notified().await;
            let moves = std::mem::take(&mut *self.moves.lock());
            if moves.is_empty() {
                continue;
            }
            monitor.start();
            let OrchestratorContext { store, owner, clock, .. } = &self.context;
            let written = store.agent_hosts_put(owner, &moves, clock.now()).await;
            monitor.finish(&written);
            if let Err(error) = written {
                tracing::warn!(error = %ErrorChain(&error), "cannot write which agents are connected here; retrying");
                {
                    let mut waiting = self.moves.lock();
                    // Changes that arrived during the write are newer and must follow.
                    waiting.splice(0..0, moves);
                }
                tokio::time::sleep(PAUSE).await;
                self.has_moves.notify_one();
            }
        }
    }

    /// Writes the heartbeat of this server periodically. Never returns.
    pub(crate) async fn beat(&self, monitor: &TaskMonitor) {
        loop {
            monitor.start();
            let written = self.context.store.server_heartbeat(&self.member()).await;
            if let Err(error) = &written {
                tracing::warn!(error = %ErrorChain(error), "cannot write the heartbeat of this server");
            }
            monitor.finish(&written);
            tokio::time::sleep(self.context.lease_renewal()).await;
        }
    }

    /// Returns the record of this server in the list of servers.
    pub fn member(&self) -> ServerRecord {
        let settings = &self.context.settings;
        ServerRecord {
            id: self.context.owner.clone(),
            name: settings.name.clone().unwrap_or_else(machine_name),
            address: settings.listen.to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            receives_bus: self.is_on_bus(),
            started_at: self.context.started_at,
            heartbeat_at: self.context.clock.now(),
        }
    }

    /// Caches the driver of a run.
    pub(crate) fn note_driver(&self, run: RunId, server: &str) {
        let mut table = self.table();
        if table.drivers.len() >= DRIVERS_MAX {
            table.drivers.clear();
        }
        table.drivers.insert(run, server.into());
    }

    pub(crate) fn forget_driver(&self, run: RunId) {
        self.table().drivers.remove(&run);
    }

    /// Returns the cached driver of a run, if that server is alive.
    pub(crate) fn cached_driver(&self, run: RunId) -> Option<Arc<str>> {
        let table = self.table();
        table.drivers.get(&run).filter(|server| table.others.contains_key(*server)).cloned()
    }

    /// Returns the other live server that drives a run, from the cache or the database.
    pub(crate) async fn driver_of(&self, run: RunId) -> Option<Arc<str>> {
        if !self.context.is_shared {
            return None;
        }
        if let Some(server) = self.cached_driver(run) {
            return Some(server);
        }
        let read = async { self.context.store.read().await?.run_work(run).await };
        let work = match read.await {
            Ok(work) => work?,
            Err(error) => {
                tracing::warn!(error = %ErrorChain(&error), run.id = run.0, "cannot read the driver of the run");
                return None;
            }
        };
        let is_held = work.lease_until.is_some_and(|until| until > self.context.clock.now());
        let owner =
            work.owner.filter(|owner| is_held && *owner != self.context.owner && self.is_live(owner))?;
        self.note_driver(run, &owner);
        Some(owner.into())
    }

    /// Reports whether another server is alive.
    pub(crate) fn is_live(&self, server: &str) -> bool {
        self.table().others.contains_key(server)
    }

    /// Sends a control request to a driver on another server. Retries until the server responds or is no
    /// longer alive.
    pub(crate) async fn control(&self, server: &Arc<str>, run: RunId, what: RunControl) -> RunResponse {
        let (id, mut answered) = {
            let (sender, answered) = oneshot::channel();
            (self.expect_response(sender), answered)
        };
        let response = loop {
            self.send(server, &PeerMessage::Ask { id, run: run.0, what });
            if let Ok(response) = tokio::time::timeout(REPEAT_AFTER, &mut answered).await {
                break response.unwrap_or(RunResponse::NoDriver);
            }
            if !self.is_live(server) {
                break RunResponse::NoDriver;
            }
        };
        self.pending().remove(&id);
        if response == RunResponse::NoDriver {
            self.forget_driver(run);
        }
        response
    }

    /// Forwards a result to the driver of its run on another server. With a receipt, that server responds
    /// when the result is committed.
    pub(crate) fn forward_result(
        &self,
        server: &Arc<str>,
        uid: &AgentUid,
        finished: AttemptResult,
        receipt: Option<oneshot::Sender<RunResponse>>,
    ) {
        let (uid, text) = (uid.clone(), encode_from_agent(&FromAgent::Finished(finished)));
        let message = match receipt {
            None => PeerMessage::FromAgent { uid, text },
            Some(receipt) => PeerMessage::Settle { id: self.expect_response(receipt), uid, text },
        };
        self.send(server, &message);
    }

    /// Registers `sender` for the response to a new request and returns the request number.
    fn expect_response(&self, sender: oneshot::Sender<RunResponse>) -> u64 {
        let id = self.next_request.fetch_add(1, Ordering::Relaxed);
        let mut pending = self.pending();
        // Drop requests whose caller no longer waits.
        pending.retain(|_, sender| !sender.is_closed());
        pending.insert(id, sender);
        id
    }

    /// Delivers a response to the caller of its request.
    pub(crate) fn respond(&self, id: u64, response: RunResponse) {
        if let Some(sender) = self.pending().remove(&id) {
            // The caller may no longer wait.
            _ = sender.send(response);
        }
    }

    /// Deduplicates retries of a request. `Ok` if the request is new; otherwise the cached response, or
    /// `None` while the request is in progress.
    pub(crate) fn begin_request(&self, request: &RequestId) -> Result<(), Option<RunResponse>> {
        let mut answered = self.answered();
        if let Some((_, response)) = answered.iter().find(|(known, _)| known == request) {
            return Err(*response);
        }
        if answered.len() >= ANSWERED_MAX {
            answered.pop_front();
        }
        answered.push_back((request.clone(), None));
        Ok(())
    }

    /// Caches the response to a request.
    pub(crate) fn end_request(&self, request: &RequestId, response: RunResponse) {
        if let Some((_, cached)) = self.answered().iter_mut().find(|(id, _)| id == request) {
            *cached = Some(response);
        }
    }

    pub(crate) fn others(&self) -> Vec<Arc<str>> {
        self.table().others.keys().cloned().collect()
    }

    pub(crate) fn table(&self) -> MutexGuard<'_, PeerTable> {
        self.table.lock()
    }

    fn answered(&self) -> MutexGuard<'_, VecDeque<(RequestId, Option<RunResponse>)>> {
        self.answered.lock()
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<RunResponse>>> {
        self.pending.lock()
    }
}

fn machine_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}
