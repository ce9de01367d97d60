//! Agents that the server itself starts: that of the master, those of nodes that are reached over SSH, and, where an
//! operator wants it for trying out, those of nodes that have none.
//!
//! How an agent works is none of the server's business: it is given something that starts one.

mod over_ssh;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use stoker_engine::session::{FromAgent, ToAgent};
use stoker_model::NodeId;
use stoker_traces::Tracer;
use tokio::sync::{Notify, mpsc};

pub use over_ssh::over_ssh;

/// For agents to end what they run, when the server ends.
const END_TIME_MAX: Duration = Duration::from_secs(15);

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
pub struct LocalAgents {
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

impl LocalAgents {
    /// From now on agents can be started here. The first spawner stays: two would start two agents for one node.
    pub fn set_spawner(&self, spawner: AgentSpawner) {
        let _ = self.spawner.set(spawner);
    }

    pub(crate) fn spawner(&self) -> Option<&AgentSpawner> {
        self.spawner.get()
    }

    /// None: the server ends, and starts no more.
    pub(crate) fn guard(&self) -> Option<AgentGuard> {
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

    pub(crate) fn is_started(&self, uid: &str) -> bool {
        self.started().contains_key(uid)
    }

    /// None: somebody was faster.
    pub(crate) fn start(&self, uid: &str, is_inside: bool) -> Option<Arc<Notify>> {
        let mut started = self.started();
        if started.contains_key(uid) {
            return None;
        }
        let bell = Arc::new(Notify::new());
        started.insert(uid.to_owned(), Started { bell: Arc::clone(&bell), is_inside });
        Some(bell)
    }

    /// Whether the agent of a node is inside of the server, where the machine is not the node's.
    pub(crate) fn is_pretended(&self, uid: &str) -> bool {
        NodeId::parse(uid).is_some() && self.started().get(uid).is_some_and(|started| started.is_inside)
    }

    pub(crate) fn end(&self, uid: &str) {
        self.started().remove(uid);
    }

    /// Whether an agent that was started here still belongs here is looked at.
    pub(crate) fn reconsider(&self, uid: &str) {
        if let Some(started) = self.started().get(uid) {
            started.bell.notify_one();
        }
    }

    fn started(&self) -> MutexGuard<'_, HashMap<String, Started>> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
