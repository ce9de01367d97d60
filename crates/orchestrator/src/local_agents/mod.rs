//! Agents that the server starts itself: the agent of the master, agents of nodes reached over SSH, and, if
//! the operator enables them for testing, agents of nodes that have none.
//!
//! The implementation of an agent is injected as an [`AgentSpawner`].

mod over_ssh;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use stoker_engine::session::{FromAgent, ToAgent};
use stoker_model::AgentUid;
use stoker_traces::Tracer;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

pub use over_ssh::parse_ssh_location;

/// Shutdown timeout: time for local agents to end their tasks when the server stops.
const END_TIME_MAX: Duration = Duration::from_secs(15);

/// Parameters of an agent to start.
pub struct LocalAgent {
    pub uid: AgentUid,
    pub place: AgentPlace,
    /// Guard that is dropped when the agent and all of its tasks have ended.
    pub guard: AgentGuard,
    /// Channel to which the agent sends the server side of each connection it opens.
    pub connections: mpsc::Sender<LocalConnection>,
    /// Tracer for the spans of the attempts of the agent, if it runs in this process.
    pub tracer: Tracer,
}

/// Delays the shutdown of the server until it is dropped.
pub struct AgentGuard(#[expect(dead_code, reason = "it is held, not used")] mpsc::Sender<()>);

/// Location at which an agent runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentPlace {
    /// The agent runs in the server process.
    Here {
        /// Directory of the journal of the agent, and working directory of its tasks.
        folder: PathBuf,
        /// Operator-provided executables by hook name, such as `reboot`.
        hooks: BTreeMap<String, PathBuf>,
    },
    /// The agent runs on its node, started over SSH for the lifetime of the connection.
    Ssh {
        /// A host, `user@host`, or a host alias from the `ssh` configuration.
        destination: String,
        port: Option<u16>,
        /// Additional command-line options for `ssh`.
        options: Vec<String>,
        /// Command that starts the agent on the node.
        command: Vec<String>,
    },
}

/// Capacity of the channel of connections. An agent has one connection at a time. The next connection waits
/// until the server has received it, that is, until the session over the previous connection has ended.
const CONNECTIONS_MAX: usize = 1;

/// Creates the channel for the connections of one agent.
pub(crate) fn connections() -> (mpsc::Sender<LocalConnection>, mpsc::Receiver<LocalConnection>) {
    mpsc::channel(CONNECTIONS_MAX)
}

/// Server side of a connection to a local agent.
#[derive(Debug)]
pub struct LocalConnection {
    pub send: mpsc::Sender<ToAgent>,
    pub receive: mpsc::Receiver<FromAgent>,
}

/// Starts an agent that runs until the receiver of its connections is dropped.
pub type AgentSpawner = Arc<dyn Fn(LocalAgent) + Send + Sync>;

/// Registry of the agents that this server has started.
#[derive(Default)]
pub struct LocalAgents {
    spawner: OnceLock<AgentSpawner>,
    started: Mutex<HashMap<AgentUid, Started>>,
    /// Notified when an agent has connected and its machine is recorded.
    pub(crate) connected: Notify,
    guards: Mutex<Guards>,
}

struct Started {
    /// Notified when the server must check whether it should continue to run the agent.
    bell: Arc<Notify>,
    is_inside: bool,
    at: Instant,
}

/// Both ends of a channel that is closed when all agents have dropped their guard.
struct Guards {
    guard: Option<mpsc::Sender<()>>,
    released: Option<mpsc::Receiver<()>>,
}

impl Default for Guards {
    fn default() -> Self {
        let (guard, released) = mpsc::channel(1);
        Self { guard: Some(guard), released: Some(released) }
    }
}

impl LocalAgents {
    /// Enables local agents. Only the first spawner is used, because two spawners would start two agents for
    /// one node.
    pub fn set_spawner(&self, spawner: AgentSpawner) {
        let _ = self.spawner.set(spawner);
    }

    pub(crate) fn spawner(&self) -> Option<&AgentSpawner> {
        self.spawner.get()
    }

    /// Returns a guard for a new agent; `None` if the server is shutting down.
    pub(crate) fn guard(&self) -> Option<AgentGuard> {
        self.guards.lock().guard.clone().map(AgentGuard)
    }

    /// Waits until all agents and their tasks have ended, at most [`END_TIME_MAX`].
    pub(crate) async fn wait_ended(&self) {
        let released = {
            let mut guards = self.guards.lock();
            guards.guard = None;
            guards.released.take()
        };
        let Some(mut released) = released else { return };
        // No messages are sent: `recv` returns when all guards are dropped.
        if tokio::time::timeout(END_TIME_MAX, released.recv()).await.is_err() {
            tracing::warn!("in-process agents did not stop before the timeout");
        }
    }

    pub(crate) fn is_started(&self, uid: &AgentUid) -> bool {
        self.started().contains_key(uid)
    }

    /// Registers an agent as started; `None` if it already is.
    pub(crate) fn start(&self, uid: &AgentUid, is_inside: bool) -> Option<Arc<Notify>> {
        let mut started = self.started();
        if started.contains_key(uid) {
            return None;
        }
        let bell = Arc::new(Notify::new());
        started.insert(uid.clone(), Started { bell: Arc::clone(&bell), is_inside, at: Instant::now() });
        Some(bell)
    }

    pub(crate) fn started_at(&self, uid: &AgentUid) -> Option<Instant> {
        self.started().get(uid).map(|started| started.at)
    }

    /// Reports whether the agent of a node runs in the server process, that is, not on the machine of the
    /// node.
    pub(crate) fn is_in_process(&self, uid: &AgentUid) -> bool {
        uid.node_id().is_some() && self.started().get(uid).is_some_and(|started| started.is_inside)
    }

    pub(crate) fn end(&self, uid: &AgentUid) {
        self.started().remove(uid);
    }

    /// Triggers a check whether this server should continue to run an agent.
    pub(crate) fn recheck(&self, uid: &AgentUid) {
        if let Some(started) = self.started().get(uid) {
            started.bell.notify_one();
        }
    }

    fn started(&self) -> MutexGuard<'_, HashMap<AgentUid, Started>> {
        self.started.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection() -> LocalConnection {
        LocalConnection { send: mpsc::channel(1).0, receive: mpsc::channel(1).1 }
    }

    #[tokio::test]
    async fn connections_wait_until_the_server_takes_them() {
        let (connections, mut taken) = connections();
        connections.send(connection()).await.unwrap();
        let waiting = tokio::time::timeout(Duration::from_millis(20), connections.send(connection())).await;
        assert!(waiting.is_err(), "the first one is not taken");
        let (sent, first) = tokio::join!(connections.send(connection()), taken.recv());
        assert!(sent.is_ok() && first.is_some() && taken.recv().await.is_some());
    }
}
