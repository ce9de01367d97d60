//! Servers that share one database, and perhaps a bus.
//!
//! An agent is connected to one of them, its *host*; a run is carried out by one of them, its *driver*, for as long as it
//! holds the lease. What passes between both crosses servers as letters: over the bus where it reaches the other, else
//! through a table of the database that every server looks into. Letters are never the truth. What is decided is in the
//! store before anybody is told; where an agent is, and who is there, is in tables that everybody reads again and again.
//!
//! ```text
//! driver ── dispatch, claim, acknowledge ──▶ host ◀─▶ an agent
//!        ◀── deliver, started, finished ────
//! ```
//!
//! A driver claims again what has not begun, and everything when a host announces the agent; a host says an end again until
//! it is acknowledged. Who is alone has nobody to write to, and looks once a second whether that is still so.

mod hear;
mod letter;
mod poll;
mod post;
mod seal;

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use stoker_bus::Bus;
use stoker_engine::session::{Finished, FromAgent};
use stoker_model::{HostChange, Micros, RunId};
use stoker_wire::encode_from_agent;
use tokio::sync::{Notify, mpsc, oneshot};

use crate::runs::Settled;
use crate::state::App;

pub(crate) use letter::{Answer, Flight, Letter, Wish};
use post::Outgoing;
pub(crate) use seal::Seal;

/// Letters that wait to be sent. More are dropped: they are said again.
const WAITING_MAX: usize = 65_536;
/// Questions of which the answer is remembered, in case they come again.
const ANSWERED_MAX: usize = 1024;
/// Runs of which the driver is remembered before all are forgotten.
const DRIVERS_MAX: usize = 10_000;
/// Before a question is put again.
const ASK_AGAIN: Duration = Duration::from_secs(3);
/// How long something may be believed that another server can have changed.
pub(crate) const STALE_SECONDS: i64 = 5;

pub(crate) struct Group {
    me: Arc<str>,
    started_at: Micros,
    /// Whether others can reach the database.
    is_shared: bool,
    /// The way to others that is quicker than the database, and what tells them from anybody else on it.
    bus: Option<(Bus, Seal)>,
    outgoing: mpsc::Sender<Outgoing>,
    /// Taken by whoever sends.
    queue: Mutex<Option<mpsc::Receiver<Outgoing>>>,
    known: Mutex<Known>,
    /// Agents that came and went since it was last written down.
    moves: Mutex<Vec<HostChange>>,
    has_moves: Notify,
    /// There may be letters.
    look: Notify,
    /// There may be runs that nobody carries out.
    pub(crate) take_up: Notify,
    asking: Mutex<HashMap<u64, oneshot::Sender<Answer>>>,
    next_question: AtomicU64,
    answered: Mutex<VecDeque<(Question, Option<Answer>)>>,
}

/// Who asked, and the number of the question.
type Question = (String, u64);

/// What was read or heard of others.
#[derive(Default)]
struct Known {
    /// Servers of which something is heard, and whether the bus reaches them.
    others: HashMap<Arc<str>, bool>,
    /// The server that each agent was connected to last.
    hosts: HashMap<String, Arc<str>>,
    /// Of the last change of that.
    number: i64,
    drivers: HashMap<RunId, Arc<str>>,
}

impl Group {
    pub(crate) fn new(me: &str, started_at: Micros, is_shared: bool, bus: Option<(Bus, Seal)>) -> Self {
        let (outgoing, queue) = mpsc::channel(WAITING_MAX);
        Self {
            me: me.into(),
            started_at,
            is_shared,
            bus,
            outgoing,
            queue: Mutex::new(Some(queue)),
            known: Mutex::default(),
            moves: Mutex::default(),
            has_moves: Notify::new(),
            look: Notify::new(),
            take_up: Notify::new(),
            asking: Mutex::default(),
            next_question: AtomicU64::new(1),
            answered: Mutex::default(),
        }
    }

    /// Whether other servers may be there, now or later.
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// An agent has come to this server, or left it.
    pub(crate) fn moved(&self, uid: &str, connection: u64, is_connected: bool) {
        if !self.is_shared {
            return;
        }
        let connection = i64::try_from(connection).unwrap_or(i64::MAX);
        let change = HostChange { uid: uid.to_owned(), connection, is_connected };
        self.moves.lock().unwrap_or_else(PoisonError::into_inner).push(change);
        self.has_moves.notify_one();
    }

    /// Remembers who carries a run out.
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

    /// Whoever is known to carry a run out, and is there.
    pub(crate) fn known_driver(&self, run: RunId) -> Option<Arc<str>> {
        let known = self.known();
        known.drivers.get(&run).filter(|server| known.others.contains_key(*server)).cloned()
    }

    /// Whether something is heard of a server that is not this one.
    pub(crate) fn is_live(&self, server: &str) -> bool {
        self.known().others.contains_key(server)
    }

    fn others(&self) -> Vec<Arc<str>> {
        self.known().others.keys().cloned().collect()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answered(&self) -> MutexGuard<'_, VecDeque<(Question, Option<Answer>)>> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn asking(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<Answer>>> {
        self.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl App {
    /// Begins to take part in the group.
    pub(crate) fn begin_group(&self) {
        if !self.group.is_shared {
            return;
        }
        let app = self.clone();
        self.spawn(async move { poll::beat(&app).await });
        let app = self.clone();
        self.spawn(async move { poll::write_moves(&app).await });
        let app = self.clone();
        self.spawn(async move { poll::poll(&app).await });
        let app = self.clone();
        self.spawn(async move { post::send(&app).await });
        let app = self.clone();
        self.spawn(async move { post::listen(&app).await });
    }

    /// Hands over: whatever this server holds is free at once, and the others know.
    pub(crate) async fn leave_group(&self) {
        if !self.group.is_shared {
            return;
        }
        if let Err(error) = self.store.server_leave(&self.owner, self.clock.now()).await {
            tracing::warn!(error = %error, "what this server held is free only after a while");
            return;
        }
        post::say_at_once(self, &Letter::TakeUp).await;
    }

    /// Whether this server is the one of all that does something until then.
    pub(crate) async fn is_chosen(&self, what: &str, seconds: i64) -> bool {
        let now = self.clock.now();
        match self.store.lease_take(what, &self.owner, now, now.plus_seconds(seconds)).await {
            Ok(is_chosen) => is_chosen,
            Err(error) => {
                tracing::warn!(error = %error, what, "whose turn it is could not be found out");
                false
            }
        }
    }

    /// Logins have changed: nobody believes what was found before.
    pub(crate) fn forget_tokens(&self) {
        self.tokens.forget();
        self.group.post_all(&Letter::ForgetTokens);
    }

    /// Ends the connection of an agent, wherever it is.
    pub(crate) fn close_agent(&self, uid: &str) {
        self.let_go(uid);
        self.group.post_all(&Letter::CloseAgent { uid: uid.to_owned() });
    }

    /// Something happened in a run.
    pub(crate) fn tell_news(&self, run: RunId) {
        self.news.tell(run);
        self.group.ring(&Letter::News { run: run.0 });
    }

    /// Until when something taken now belongs to this server if it says nothing more.
    pub(crate) fn leased_until(&self, now: Micros) -> Micros {
        now.plus_seconds(i64::from(self.settings.runs.lease_seconds))
    }

    /// How often it says that it is still there: several times before the others take over.
    pub(crate) fn lease_renewal(&self) -> Duration {
        Duration::from_secs(u64::from(self.settings.runs.lease_seconds)) / 4
    }

    /// How long an answer of the database may be believed that is good until an instant.
    pub(crate) fn good_until(&self, expires_at: Micros, now: Micros) -> Micros {
        if self.group.is_shared { expires_at.min(now.plus_seconds(STALE_SECONDS)) } else { expires_at }
    }

    /// Whoever else carries a run out.
    pub(crate) async fn driver_of(&self, run: RunId) -> Option<Arc<str>> {
        if !self.group.is_shared {
            return None;
        }
        if let Some(server) = self.group.known_driver(run) {
            return Some(server);
        }
        let read = async { self.store.read().await?.run_work(run).await };
        let work = match read.await {
            Ok(work) => work?,
            Err(error) => {
                tracing::warn!(error = %error, run.id = run.0, "who carries a run out is not known");
                return None;
            }
        };
        let is_held = work.lease_until.is_some_and(|until| until > self.clock.now());
        let owner =
            work.owner.filter(|owner| is_held && *owner != self.owner && self.group.is_live(owner))?;
        self.group.note_driver(run, &owner);
        Some(owner.into())
    }

    /// Asks something of a run that another server carries out.
    pub(crate) async fn ask_away(&self, server: &Arc<str>, run: RunId, what: Wish) -> Answer {
        let id = self.group.next_question.fetch_add(1, Ordering::Relaxed);
        let (sender, mut answered) = oneshot::channel();
        self.group.asking().insert(id, sender);
        let answer = loop {
            self.group.post(server, &Letter::Ask { id, run: run.0, what });
            if let Ok(answer) = tokio::time::timeout(ASK_AGAIN, &mut answered).await {
                break answer.unwrap_or(Answer::Nobody);
            }
            if !self.group.is_live(server) {
                break Answer::Nobody;
            }
        };
        self.group.asking().remove(&id);
        if answer == Answer::Nobody {
            self.group.forget_driver(run);
        }
        answer
    }

    /// Hands an end to whoever else carries its run out, and waits until it is safe there.
    pub(crate) async fn settle_away(&self, server: &Arc<str>, uid: &str, finished: Finished) -> Settled {
        let run = finished.key.run;
        let text = encode_from_agent(&FromAgent::Finished(finished));
        let id = self.group.next_question.fetch_add(1, Ordering::Relaxed);
        let (sender, answered) = oneshot::channel();
        self.group.asking().insert(id, sender);
        let forgetting = Forgetting { group: &self.group, id };
        self.group.post(server, &Letter::Settle { id, uid: uid.to_owned(), text });
        let answer = answered.await.unwrap_or(Answer::Nobody);
        drop(forgetting);
        if answer == Answer::Nobody {
            self.group.forget_driver(run);
        }
        answer.into()
    }
}

/// A question that nobody waits for any more, however that came to be.
struct Forgetting<'g> {
    group: &'g Group,
    id: u64,
}

impl Drop for Forgetting<'_> {
    fn drop(&mut self) {
        self.group.asking().remove(&self.id);
    }
}
