//! Servers that share one database, and perhaps a bus.
//!
//! An agent is connected to one of them, its *host*; a run is carried out by one of them, its *driver*, for as long as it
//! holds the lease. Both exchange messages: over the bus where it reaches the other server, else through a table of the
//! database that every server polls. Messages are never the source of truth. What is decided is committed before anybody is
//! told; which server has an agent, and which servers are alive, is in tables that everybody polls.
//!
//! ```text
//! driver ── dispatch, claim, acknowledge ──▶ host ◀─▶ an agent
//!        ◀── deliver, started, finished ────
//! ```
//!
//! A driver claims again what has not started, and everything when a host announces the agent; a host resends a result until
//! it is acknowledged. A server that is alone sends nothing, and looks once a second whether that is still so.
//!
//! This module sends. What is done about messages of others is in `peer_inbox`.

mod message;
mod seal;
mod transport;

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use stoker_bus::Bus;
use stoker_engine::session::{Finished, FromAgent};
use stoker_model::{HostChange, Member, RunId};
use stoker_services::background::TaskMonitor;
use stoker_wire::encode_from_agent;
use tokio::sync::{Notify, mpsc, oneshot};

pub(crate) use message::{Envelope, Flight, PeerMessage, RunControl};
pub(crate) use seal::Seal;
use transport::Outgoing;

use crate::agents::RunResponse;
use crate::context::OrchestratorContext;

/// Messages that wait to be sent. More are dropped: senders repeat what matters.
const QUEUE_MAX: usize = 65_536;
/// Requests whose response is remembered, in case they are repeated.
const ANSWERED_MAX: usize = 1024;
/// Runs whose driver is cached before the cache is cleared.
const DRIVERS_MAX: usize = 10_000;
/// Before a request is repeated.
const REPEAT_AFTER: Duration = Duration::from_secs(3);
/// How often the list of live servers is read.
pub(crate) const MEMBERS_INTERVAL: Duration = Duration::from_secs(1);
/// Before a retry when the database does not answer.
const PAUSE: Duration = Duration::from_millis(500);

pub struct Peers {
    context: OrchestratorContext,
    /// Reaches other servers faster than the database; the seal authenticates them.
    pub(crate) bus: Option<(Bus, Seal)>,
    outgoing: mpsc::Sender<Outgoing>,
    /// Taken by the sender.
    queue: Mutex<Option<mpsc::Receiver<Outgoing>>>,
    known: Mutex<Known>,
    /// Agents that connected or disconnected since the last write.
    moves: Mutex<Vec<HostChange>>,
    has_moves: Notify,
    /// There may be messages in the database.
    pub(crate) look: Notify,
    /// There may be runs without a driver.
    pub(crate) take_over: Notify,
    pending: Mutex<HashMap<u64, oneshot::Sender<RunResponse>>>,
    next_request: AtomicU64,
    answered: Mutex<VecDeque<(Request, Option<RunResponse>)>>,
}

/// The server that sent a request, and its number.
type Request = (String, u64);

/// What was read or heard of other servers.
#[derive(Default)]
pub(crate) struct Known {
    /// Live servers, and whether the bus reaches them.
    pub(crate) others: HashMap<Arc<str>, bool>,
    /// The server that each agent was last connected to.
    pub(crate) hosts: HashMap<String, Arc<str>>,
    /// Sequence number of the latest change of that.
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
            known: Mutex::default(),
            moves: Mutex::default(),
            has_moves: Notify::new(),
            look: Notify::new(),
            take_over: Notify::new(),
            pending: Mutex::default(),
            next_request: AtomicU64::new(1),
            answered: Mutex::default(),
        }
    }

    pub(crate) fn has_bus(&self) -> bool {
        self.bus.is_some()
    }

    /// An agent has connected to this server, or disconnected.
    pub(crate) fn moved(&self, uid: &str, connection: u64, is_connected: bool) {
        if !self.context.is_shared {
            return;
        }
        let connection = i64::try_from(connection).unwrap_or(i64::MAX);
        let change = HostChange { uid: uid.to_owned(), connection, is_connected };
        self.moves.lock().unwrap_or_else(PoisonError::into_inner).push(change);
        self.has_moves.notify_one();
    }

    /// Writes which agents connected and disconnected. Never returns.
    pub(crate) async fn write_moves(&self, monitor: &TaskMonitor) {
        loop {
            self.has_moves.notified().await;
            let moves = std::mem::take(&mut *self.moves.lock().unwrap_or_else(PoisonError::into_inner));
            if moves.is_empty() {
                continue;
            }
            monitor.start();
            let OrchestratorContext { store, owner, clock, .. } = &self.context;
            let written = store.hosts_put(owner, &moves, clock.now()).await;
            monitor.finish(&written);
            if let Err(error) = written {
                tracing::warn!(error = %error, "cannot write which agents are connected here; retrying");
                {
                    let mut waiting = self.moves.lock().unwrap_or_else(PoisonError::into_inner);
                    // What came meanwhile is newer.
                    waiting.splice(0..0, moves);
                }
                tokio::time::sleep(PAUSE).await;
                self.has_moves.notify_one();
            }
        }
    }

    /// Writes the heartbeat of this server. Never returns.
    pub(crate) async fn beat(&self, monitor: &TaskMonitor) {
        loop {
            monitor.start();
            let written = self.context.store.server_beat(&self.member()).await;
            if let Err(error) = &written {
                tracing::warn!(error = %error, "cannot write the heartbeat of this server");
            }
            monitor.finish(&written);
            tokio::time::sleep(self.context.lease_renewal()).await;
        }
    }

    /// This server, as the others see it.
    pub fn member(&self) -> Member {
        let settings = &self.context.settings;
        Member {
            id: self.context.owner.clone(),
            name: settings.name.clone().unwrap_or_else(machine_name),
            address: settings.listen.to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            hears_bus: self.is_on_bus(),
            started_at: self.context.started_at,
            seen_at: self.context.clock.now(),
        }
    }

    /// Caches the driver of a run.
    pub(crate) fn note_driver(&self, run: RunId, server: &str) {
        let mut known = self.known();
        if known.drivers.len() >= DRIVERS_MAX {
            known.drivers.clear();
        }
        known.drivers.insert(run, server.into());
    }

    pub(crate) fn forget_driver(&self, run: RunId) {
        self.known().drivers.remove(&run);
    }

    /// The cached driver of a run, if it is alive.
    pub(crate) fn known_driver(&self, run: RunId) -> Option<Arc<str>> {
        let known = self.known();
        known.drivers.get(&run).filter(|server| known.others.contains_key(*server)).cloned()
    }

    /// The other server that carries a run out.
    pub(crate) async fn driver_of(&self, run: RunId) -> Option<Arc<str>> {
        if !self.context.is_shared {
            return None;
        }
        if let Some(server) = self.known_driver(run) {
            return Some(server);
        }
        let read = async { self.context.store.read().await?.run_work(run).await };
        let work = match read.await {
            Ok(work) => work?,
            Err(error) => {
                tracing::warn!(error = %error, run.id = run.0, "cannot read the driver of the run");
                return None;
            }
        };
        let is_held = work.lease_until.is_some_and(|until| until > self.context.clock.now());
        let owner =
            work.owner.filter(|owner| is_held && *owner != self.context.owner && self.is_live(owner))?;
        self.note_driver(run, &owner);
        Some(owner.into())
    }

    /// Whether another server is alive.
    pub(crate) fn is_live(&self, server: &str) -> bool {
        self.known().others.contains_key(server)
    }

    /// Asks the driver of a run on another server; repeats the request until it answers or dies.
    pub(crate) async fn control(&self, server: &Arc<str>, run: RunId, what: RunControl) -> RunResponse {
        let (id, mut answered) = {
            let (sender, answered) = oneshot::channel();
            (self.expect_response(sender), answered)
        };
        let response = loop {
            self.send(server, &PeerMessage::Ask { id, run: run.0, what });
            if let Ok(response) = tokio::time::timeout(REPEAT_AFTER, &mut answered).await {
                break response.unwrap_or(RunResponse::Nobody);
            }
            if !self.is_live(server) {
                break RunResponse::Nobody;
            }
        };
        self.pending().remove(&id);
        if response == RunResponse::Nobody {
            self.forget_driver(run);
        }
        response
    }

    /// Forwards a result to the driver of its run on another server. With a receipt, that server answers when the result is
    /// committed.
    pub(crate) fn forward_result(
        &self,
        server: &Arc<str>,
        uid: &str,
        finished: Finished,
        receipt: Option<oneshot::Sender<RunResponse>>,
    ) {
        let (uid, text) = (uid.to_owned(), encode_from_agent(&FromAgent::Finished(finished)));
        let message = match receipt {
            None => PeerMessage::FromAgent { uid, text },
            Some(receipt) => PeerMessage::Settle { id: self.expect_response(receipt), uid, text },
        };
        self.send(server, &message);
    }

    /// The number of a request whose response goes to `sender`.
    fn expect_response(&self, sender: oneshot::Sender<RunResponse>) -> u64 {
        let id = self.next_request.fetch_add(1, Ordering::Relaxed);
        let mut pending = self.pending();
        // Requests that nobody waits for any more.
        pending.retain(|_, sender| !sender.is_closed());
        pending.insert(id, sender);
        id
    }

    /// A peer has responded.
    pub(crate) fn respond(&self, id: u64, response: RunResponse) {
        if let Some(sender) = self.pending().remove(&id) {
            // The requester may have given up.
            _ = sender.send(response);
        }
    }

    /// Whether a request is new, and then in progress; otherwise its response, if there is one yet. A repeated request must
    /// not be carried out twice.
    pub(crate) fn begin_request(&self, request: &Request) -> Result<(), Option<RunResponse>> {
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

    /// Remembers the response to a request.
    pub(crate) fn end_request(&self, request: &Request, response: RunResponse) {
        if let Some((_, known)) = self.answered().iter_mut().find(|(known, _)| known == request) {
            *known = Some(response);
        }
    }

    pub(crate) fn others(&self) -> Vec<Arc<str>> {
        self.known().others.keys().cloned().collect()
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answered(&self) -> MutexGuard<'_, VecDeque<(Request, Option<RunResponse>)>> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<RunResponse>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn machine_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}
