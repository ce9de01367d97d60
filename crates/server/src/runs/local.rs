//! Agents that the server itself starts: that of the master, those of nodes that are reached over SSH, and, where an
//! operator wants it for trying out, those of nodes that have none.
//!
//! How an agent works is none of the server's business: it is given something that starts one.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use stoker_engine::session::{FromAgent, ToAgent};
use stoker_model::{Json, Node, NodeId};
use stoker_store::{Session, StoreError};
use stoker_traces::Tracer;
use tokio::sync::mpsc;

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
    started: Mutex<HashSet<String>>,
    guards: Mutex<Guards>,
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
        if !self.locals.start(uid) {
            return;
        }
        let (connections, mut taken) = mpsc::unbounded_channel();
        let Some(guard) = self.locals.guard() else { return };
        let tracer = self.tracer.clone();
        spawner(LocalAgent { uid: uid.to_owned(), place, guard, connections, tracer });
        let (app, uid) = (self.clone(), uid.to_owned());
        self.spawn(async move {
            while let Some(connection) = taken.recv().await {
                converse(&app, &uid, None, connection).await;
            }
            app.locals.end(&uid);
        });
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
        let node = session.node_get(id).await?;
        Ok(match node.as_ref().and_then(over_ssh) {
            Some(place) => Some(place),
            None => runs.local_agents.then(here),
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
        self.started.lock().unwrap_or_else(PoisonError::into_inner).contains(uid)
    }

    /// Whether nobody was faster.
    fn start(&self, uid: &str) -> bool {
        self.started.lock().unwrap_or_else(PoisonError::into_inner).insert(uid.to_owned())
    }

    fn end(&self, uid: &str) {
        self.started.lock().unwrap_or_else(PoisonError::into_inner).remove(uid);
    }
}

/// How a node is reached whose attributes say `transport: ssh`. What `ssh` says beside is in the map `ssh`: `host` (else
/// the address of the node), `user`, `port`, `options`, `program` (where `stoker` is on the node) and `state` (where the
/// agent keeps its journal there).
fn over_ssh(node: &Node) -> Option<AgentPlace> {
    if node.attributes.get("transport").and_then(Json::as_str) != Some("ssh") {
        return None;
    }
    let said = |key: &str| node.attributes.get("ssh").and_then(|ssh| ssh.get(key));
    let host = said("host").and_then(Json::as_str).map(str::to_owned);
    let host = host.or_else(|| node.ip.clone()).unwrap_or_else(|| node.hostname.clone());
    let options = said("options").and_then(Json::as_array).into_iter().flatten();
    let text = |key: &str| said(key).and_then(Json::as_str).map(str::to_owned);
    let uid = node.id.to_string();
    let mut command = vec![text("program").unwrap_or_else(|| "stoker".to_owned())];
    command.extend(["agent", "--stdio", "--node", &uid].map(str::to_owned));
    command.extend(text("state").into_iter().flat_map(|folder| ["--state".to_owned(), folder]));
    Some(AgentPlace::Ssh {
        command,
        destination: match said("user").and_then(Json::as_str) {
            Some(user) => format!("{user}@{host}"),
            None => host,
        },
        port: said("port").and_then(Json::as_u64).and_then(|port| u16::try_from(port).ok()),
        options: options.filter_map(Json::as_str).map(str::to_owned).collect(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stoker_model::{JsonMap, Micros, NodeStatus};

    use super::*;

    fn node(attributes: &Json) -> Node {
        Node {
            id: NodeId(7),
            generation: 1,
            cluster_id: None,
            name: "seven".to_owned(),
            mac: "52:54:00:00:00:07".to_owned(),
            ip: Some("10.0.0.7".to_owned()),
            hostname: "node-7".to_owned(),
            status: NodeStatus::Discover,
            online: true,
            roles: Vec::new(),
            pending_roles: Vec::new(),
            pending_addition: false,
            pending_deletion: false,
            error_type: None,
            error_msg: None,
            progress: 0,
            group_id: None,
            manufacturer: None,
            platform_name: None,
            os_platform: None,
            kernel_params: None,
            labels: JsonMap::new(),
            meta: JsonMap::new(),
            attributes: attributes.as_object().cloned().unwrap_or_default(),
            facts: JsonMap::new(),
            agent_checksum: None,
            last_seen_at: None,
            created_at: Micros(0),
        }
    }

    #[test]
    fn a_node_says_how_it_is_reached() {
        assert!(over_ssh(&node(&json!({}))).is_none());
        assert!(over_ssh(&node(&json!({"transport": "pigeon"}))).is_none());
        let reached = |attributes: Json| match over_ssh(&node(&attributes)) {
            Some(AgentPlace::Ssh { destination, port, options, command }) => {
                (destination, port, options, command.join(" "))
            }
            _ => panic!("not over SSH"),
        };
        assert_eq!(
            reached(json!({"transport": "ssh"})),
            ("10.0.0.7".to_owned(), None, Vec::new(), "stoker agent --stdio --node 7".to_owned())
        );
        let ssh = json!({"host": "gate", "user": "root", "port": 2222, "options": ["-i", "/key"],
            "program": "/opt/stoker", "state": "/var/s"});
        let options = vec!["-i".to_owned(), "/key".to_owned()];
        let command = "/opt/stoker agent --stdio --node 7 --state /var/s".to_owned();
        let expected = ("root@gate".to_owned(), Some(2222), options, command);
        assert_eq!(reached(json!({"transport": "ssh", "ssh": ssh})), expected);
    }
}
