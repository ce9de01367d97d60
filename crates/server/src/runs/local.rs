//! Agents that the server itself starts: that of the master, those of nodes that are reached over SSH, and, where an
//! operator wants it for trying out, those of nodes that have none.
//!
//! How an agent works is none of the server's business: it is given something that starts one.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use stoker_engine::session::{Attempt, FromAgent, Mode, ToAgent};
use stoker_model::{Node, NodeId};
use stoker_store::{Session, StoreError};
use stoker_traces::Tracer;
use tokio::sync::{Notify, mpsc};

use super::over_ssh::over_ssh;
use super::session::{Carrier, converse};
use crate::state::App;

/// For agents to end what they run, when the server ends.
const END_TIME_MAX: Duration = Duration::from_secs(15);

/// Signs of life are written down now and then: less silence than this says nothing.
const SEEN_SECONDS_MIN: i64 = 60;

/// An agent to be started.
pub struct LocalAgent {
    pub uid: String,
    pub place: AgentPlace,
    /// Held until the agent has ended, with all it runs.
    pub guard: AgentGuard,
    /// Where it hands in the server's end of each connection it makes.
    pub connections: mpsc::UnboundedSender<LocalConnection>,
    /// Where spans of its attempts come from, if it is in this process.
    pub tracer: Tracer,
}

/// As long as one of these is held, the server waits for an agent to end.
pub struct AgentGuard(#[expect(dead_code, reason = "it is held, not used")] mpsc::Sender<()>);

/// Where an agent runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentPlace {
    /// In this process.
    Here {
        /// Where its journal is, and where its tasks begin.
        folder: PathBuf,
        /// Programs for what only the operator knows how to do, by name.
        hooks: BTreeMap<String, PathBuf>,
    },
    /// On its node, for as long as a connection stands.
    Ssh {
        /// A host, `user@host`, or a name from the configuration of `ssh`.
        destination: String,
        port: Option<u16>,
        /// Further options of `ssh`.
        options: Vec<String>,
        /// What is started on the node.
        command: Vec<String>,
    },
}

/// The server's end of a connection with an agent that it started.
pub struct LocalConnection {
    pub send: mpsc::Sender<ToAgent>,
    pub receive: mpsc::Receiver<FromAgent>,
}

/// Starts an agent that lives until nobody takes its connections.
pub type AgentSpawner = Arc<dyn Fn(LocalAgent) + Send + Sync>;

/// Which agents are ours.
#[derive(Default)]
pub(crate) struct Locals {
    spawner: OnceLock<AgentSpawner>,
    started: Mutex<HashMap<String, Started>>,
    guards: Mutex<Guards>,
}

struct Started {
    /// Says: is it still ours?
    bell: Arc<Notify>,
    is_inside: bool,
}

/// Both ends of what agents hold.
struct Guards {
    held: Option<mpsc::Sender<()>>,
    released: Option<mpsc::Receiver<()>>,
}

impl Default for Guards {
    fn default() -> Self {
        let (held, released) = mpsc::channel(1);
        Self { held: Some(held), released: Some(released) }
    }
}

impl Carrier for LocalConnection {
    async fn receive(&mut self) -> Option<FromAgent> {
        self.receive.recv().await
    }

    async fn send(&mut self, message: ToAgent) -> bool {
        self.send.send(message).await.is_ok()
    }
}

impl App {
    /// From now on agents can be started here.
    pub fn set_agent_spawner(&self, spawner: AgentSpawner) {
        // The first one stays: two would start two agents for one node.
        let _ = self.locals.spawner.set(spawner);
    }

    /// Starts the agent of a node if it is ours to start and not there.
    pub(crate) async fn ensure_agent(&self, uid: &str) {
        let Some(spawner) = self.locals.spawner.get() else { return };
        if self.agents.is_connected(uid) || self.locals.is_started(uid) {
            return;
        }
        let place = match self.place_of(uid).await {
            Ok(Some(place)) => place,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(error = %error, agent.uid = uid, "whether the agent is to be started is not known");
                return;
            }
        };
        let is_inside = matches!(place, AgentPlace::Here { .. });
        let Some(bell) = self.locals.start(uid, is_inside) else { return };
        let (connections, taken) = mpsc::unbounded_channel();
        let Some(guard) = self.locals.guard() else { return };
        let tracer = self.tracer.clone();
        spawner(LocalAgent { uid: uid.to_owned(), place: place.clone(), guard, connections, tracer });
        let (app, uid) = (self.clone(), uid.to_owned());
        self.spawn(async move { app.keep_agent(&uid, &place, taken, &bell).await });
    }

    /// Speaks with an agent that was started here, for as long as that is its place.
    async fn keep_agent(
        &self,
        uid: &str,
        place: &AgentPlace,
        mut taken: mpsc::UnboundedReceiver<LocalConnection>,
        bell: &Notify,
    ) {
        let has_moved = loop {
            let connection = tokio::select! {
                connection = taken.recv() => match connection {
                    Some(connection) => Some(connection),
                    None => break false,
                },
                () = bell.notified() => None,
            };
            // A store that does not answer says nothing against anybody.
            if self.place_of(uid).await.is_ok_and(|now| now.as_ref() != Some(place)) {
                break true;
            }
            if let Some(connection) = connection {
                converse(self, uid, None, connection).await;
            }
        };
        // It ends now, with all it runs.
        drop(taken);
        self.locals.end(uid);
        if has_moved {
            tracing::info!(agent.uid = uid, "the agent of a node belongs elsewhere now");
            self.start_anew(uid).await;
        }
    }

    /// In a box: whoever starts an agent keeps it, and whoever keeps it may have to start the next one.
    fn start_anew<'a>(&'a self, uid: &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(self.ensure_agent(uid))
    }

    /// Why an attempt must not be carried out where the agent is: whoever tries a graph out does not want to lose the machine.
    pub(crate) fn not_here(&self, uid: &str, attempt: &Attempt) -> Option<String> {
        let is_dangerous = attempt.task_type == "reboot" && attempt.mode == Mode::Normal;
        let is_hooked = self.settings.runs.hooks.contains_key("reboot");
        (is_dangerous && !is_hooked && self.locals.is_pretended(uid)).then(|| {
            "the agent of this node is inside of the server, whose machine would be restarted; give the server \
             `--hook reboot=PATH`, or the node an agent of its own"
                .to_owned()
        })
    }

    /// Ends the connection of an agent with this server. One that was started here is kept only where it still belongs.
    pub(crate) fn let_go(&self, uid: &str) {
        self.locals.reconsider(uid);
        self.agents.close(uid);
    }

    /// Whether nobody will ever know what the agent of a node was doing: it was inside of another server that is gone, and
    /// its journal is on the disk of that machine.
    pub(crate) async fn is_orphaned(&self, uid: &str) -> bool {
        if !self.group.is_shared() || !matches!(self.place_of(uid).await, Ok(Some(AgentPlace::Here { .. }))) {
            return false;
        }
        let read = async {
            let mut session = self.store.read().await?;
            Ok::<_, StoreError>((session.host_of(uid).await?, session.servers().await?))
        };
        let Ok((host, servers)) = read.await else { return false };
        let Some(former) = host.and_then(|host| host.server_id).filter(|server| *server != self.owner) else {
            return false;
        };
        // One that was started again at the same place finds the journal there.
        let me = self.member();
        !servers
            .iter()
            .any(|server| server.id == former && server.name == me.name && server.address == me.address)
    }

    /// Whether there is an agent that could answer for a node: it is connected here, was heard of by another server
    /// lately, or can be started.
    pub(crate) async fn may_answer(&self, session: &mut Session, node: &Node) -> Result<bool, StoreError> {
        let uid = node.id.to_string();
        if self.agents.is_connected(&uid) {
            return Ok(true);
        }
        if let Some(agent) = session.agent_by_uid(&uid).await? {
            let silence_max = i64::from(self.settings.runs.lost_after_seconds).max(SEEN_SECONDS_MIN);
            let heard_at = agent.last_seen_at.unwrap_or(agent.joined_at);
            return Ok(heard_at.plus_seconds(silence_max) > self.clock.now());
        }
        Ok(self.locals.spawner.get().is_some() && self.place_in(session, &uid).await?.is_some())
    }

    async fn place_of(&self, uid: &str) -> Result<Option<AgentPlace>, StoreError> {
        self.place_in(&mut self.store.read().await?, uid).await
    }

    /// Where the server starts the agent of a node; `None`: that is not its business.
    async fn place_in(&self, session: &mut Session, uid: &str) -> Result<Option<AgentPlace>, StoreError> {
        let runs = &self.settings.runs;
        let here = || AgentPlace::Here { folder: runs.agents_folder.join(uid), hooks: runs.hooks.clone() };
        // A node with an agent of its own waits for that one.
        if session.agent_by_uid(uid).await?.is_some() {
            return Ok(None);
        }
        let Some(id) = NodeId::parse(uid) else { return Ok(runs.master_agent.then(here)) };
        let Some(node) = session.node_get(id).await? else { return Ok(None) };
        Ok(match over_ssh(&node) {
            Ok(Some(place)) => Some(place),
            Ok(None) => runs.local_agents.then(here),
            Err(problems) => {
                let why: Vec<String> = problems.into_iter().map(|(_, message)| message).collect();
                tracing::warn!(agent.uid = uid, why = why.join("; "), "how the node is reached is not known");
                None
            }
        })
    }
}

impl Locals {
    /// None: the server ends, and starts no more.
    fn guard(&self) -> Option<AgentGuard> {
        self.guards.lock().unwrap_or_else(PoisonError::into_inner).held.clone().map(AgentGuard)
    }

    /// Waits until all agents have ended, with all they run; not for ever.
    pub(crate) async fn ended(&self) {
        let released = {
            let mut guards = self.guards.lock().unwrap_or_else(PoisonError::into_inner);
            guards.held = None;
            guards.released.take()
        };
        let Some(mut released) = released else { return };
        // Nobody sends: it is over when nobody could.
        if tokio::time::timeout(END_TIME_MAX, released.recv()).await.is_err() {
            tracing::warn!("agents inside of the server did not end in time");
        }
    }

    fn is_started(&self, uid: &str) -> bool {
        self.started().contains_key(uid)
    }

    /// None: somebody was faster.
    fn start(&self, uid: &str, is_inside: bool) -> Option<Arc<Notify>> {
        let mut started = self.started();
        if started.contains_key(uid) {
            return None;
        }
        let bell = Arc::new(Notify::new());
        started.insert(uid.to_owned(), Started { bell: Arc::clone(&bell), is_inside });
        Some(bell)
    }

    /// Whether the agent of a node is inside of the server, where the machine is not the node's.
    fn is_pretended(&self, uid: &str) -> bool {
        NodeId::parse(uid).is_some() && self.started().get(uid).is_some_and(|started| started.is_inside)
    }

    fn end(&self, uid: &str) {
        self.started().remove(uid);
    }

    /// Whether an agent that was started here still belongs here is looked at.
    fn reconsider(&self, uid: &str) {
        if let Some(started) = self.started().get(uid) {
            started.bell.notify_one();
        }
    }

    fn started(&self) -> MutexGuard<'_, HashMap<String, Started>> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
