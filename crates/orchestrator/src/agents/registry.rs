//! Registry of the agents connected to this server and of the runs that it drives.
//!
//! The registry is not durable: after a reconnect or a takeover, sessions are rebuilt from the hello of the
//! agent and the claim of the driver. [`HostSession`] implements the protocol; this module passes inputs to
//! it and sends its messages. The session of an agent that another server hosts has no state and is reset
//! when the agent connects here.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use parking_lot::Mutex;
use stoker_engine::blueprint::Blueprint;
use stoker_engine::session::host::HostSession;
use stoker_engine::session::server::{Input, Output, SessionSettings};
use stoker_engine::session::{AttemptKey, AttemptResult, Generation, InFlight, ToAgent};
use stoker_model::{AgentUid, InstanceIdx, Micros, NodeIdx, RunId};
use tokio::sync::{Notify, mpsc};

use super::command::Command;

/// Capacity of the outbox of an agent. If it is full, the agent is disconnected; the messages are repeated
/// after it has reconnected.
const OUTBOX_MAX: usize = 4096;
/// Capacity of a driver's inbox. Senders block while it is full.
pub(crate) const INBOX_MAX: usize = 8192;

#[derive(Default)]
pub struct Agents {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    agents: HashMap<AgentUid, Agent>,
    runs: HashMap<RunId, Driven>,
    /// Agents that are hosted by another live server, with the ID of that server.
    elsewhere: HashMap<AgentUid, Arc<str>>,
    /// Agents that are being replaced; see [`Agents::fence`].
    fenced: HashSet<AgentUid>,
    next_line: u64,
}

struct Agent {
    session: HostSession,
    line: Option<Connected>,
}

/// Server to which an agent is connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AgentLocation {
    Here,
    /// Connected to the server with this ID.
    Elsewhere(Arc<str>),
    /// Connected to no live server.
    Nowhere,
}

struct Connected {
    /// Connection number, which distinguishes a connection from later connections of the same agent.
    id: u64,
    outbox: mpsc::Sender<ToAgent>,
    cut: Arc<Notify>,
    /// Digest of the credential with which the agent authenticated; `None` for agents in the server process.
    proof: Option<CredentialDigest>,
}

/// Digest of a credential.
pub type CredentialDigest = [u8; 32];

/// A run that this server drives.
#[derive(Clone)]
struct Driven {
    inbox: mpsc::Sender<Command>,
    /// Determines which agent executes an instance.
    blueprint: Arc<Blueprint>,
}

/// Server side of an agent connection.
pub(crate) struct Connection {
    pub(crate) uid: AgentUid,
    pub(crate) id: u64,
    /// See [`Connected::proof`].
    pub(crate) proof: Option<CredentialDigest>,
    pub(crate) outbox: mpsc::Receiver<ToAgent>,
    /// Notified to close the connection.
    pub(crate) cut: Arc<Notify>,
}

/// Keeps agents disconnected from this server; see [`Agents::fence`].
pub struct Fence<'a> {
    agents: &'a Agents,
    uids: Vec<AgentUid>,
}

impl Drop for Fence<'_> {
    fn drop(&mut self) {
        let mut inner = self.agents.inner.lock();
        for uid in &self.uids {
            inner.fenced.remove(uid);
        }
    }
}

impl Agents {
    /// Registers a connection of an agent. An earlier connection of the same agent is closed. Returns `None` while
    /// another agent joins in its place.
    pub(crate) fn connect(
        &self,
        uid: &AgentUid,
        proof: Option<CredentialDigest>,
        now: Micros,
    ) -> Option<Connection> {
        let (sender, outbox) = mpsc::channel(OUTBOX_MAX);
        let cut = Arc::new(Notify::new());
        let mut inner = self.inner.lock();
        if inner.fenced.contains(uid) {
            return None;
        }
        inner.next_line += 1;
        let id = inner.next_line;
        inner.elsewhere.remove(uid);
        let agent = inner.agent(uid, now);
        let connected = Connected { id, outbox: sender, cut: Arc::clone(&cut), proof };
        if let Some(former) = agent.line.replace(connected) {
            former.cut.notify_one();
        }
        Some(Connection { uid: uid.clone(), id, proof, outbox, cut })
    }

    /// Unregisters a connection. Ignored if a newer connection has replaced it.
    pub(crate) fn disconnect(&self, line: &Connection, now: Micros) {
        let mut inner = self.inner.lock();
        let agent = inner.agent(&line.uid, now);
        if agent.line.as_ref().is_some_and(|connected| connected.id == line.id) {
            agent.line = None;
            agent.step(Input::Disconnected, now);
        }
    }

    /// Closes the connections of agents, and refuses new ones until the guard is dropped. While other agents join in
    /// their place, nothing may be dispatched to the previous ones: its result would count for the new machine.
    pub fn fence(&self, uids: Vec<AgentUid>, now: Micros) -> Fence<'_> {
        let mut inner = self.inner.lock();
        for uid in &uids {
            if let Some(agent) = inner.agents.get_mut(uid) {
                agent.close(now);
            }
        }
        inner.fenced.extend(uids.iter().cloned());
        Fence { agents: self, uids }
    }

    /// Closes the connection of an agent. Messages that arrive over it from now on are ignored: another agent may have
    /// joined in its place.
    pub(crate) fn close(&self, uid: &AgentUid, now: Micros) {
        if let Some(agent) = self.inner.lock().agents.get_mut(uid) {
            agent.close(now);
        }
    }

    /// Returns the credential digests of all connected agents.
    pub(crate) fn credential_digests(&self) -> Vec<CredentialDigest> {
        self.inner.lock().agents.values().filter_map(|agent| agent.line.as_ref()?.proof).collect()
    }

    /// Closes the connections that were authenticated with one of these credentials, like [`Self::close`].
    pub(crate) fn close_all_with(&self, proofs: &[CredentialDigest], now: Micros) {
        for agent in self.inner.lock().agents.values_mut() {
            let proof = agent.line.as_ref().and_then(|connected| connected.proof);
            if proof.is_some_and(|proof| proofs.contains(&proof)) {
                agent.close(now);
            }
        }
    }

    /// Reports whether the agent is connected to this server or to another live server.
    pub fn is_connected(&self, uid: &AgentUid) -> bool {
        self.location(uid) != AgentLocation::Nowhere
    }

    /// Reports whether the agent is connected and the server to which it is connected has handled its hello.
    pub(crate) fn is_greeted(&self, uid: &AgentUid) -> bool {
        let inner = self.inner.lock();
        let here = inner.agents.get(uid).filter(|agent| agent.line.is_some());
        here.map_or_else(|| inner.elsewhere.contains_key(uid), |agent| agent.session.is_connected())
    }

    pub(crate) fn location(&self, uid: &AgentUid) -> AgentLocation {
        let inner = self.inner.lock();
        if inner.line(uid).is_some() {
            return AgentLocation::Here;
        }
        inner
            .elsewhere
            .get(uid)
            .map_or(AgentLocation::Nowhere, |server| AgentLocation::Elsewhere(Arc::clone(server)))
    }

    /// Reports whether the agent is recorded as hosted by another server.
    pub(crate) fn is_hosted_elsewhere(&self, uid: &AgentUid) -> bool {
        self.inner.lock().elsewhere.contains_key(uid)
    }

    /// Returns the connection ID of an agent that is connected to this server.
    pub(crate) fn line_id(&self, uid: &AgentUid) -> Option<u64> {
        self.inner.lock().line(uid).map(|connected| connected.id)
    }

    /// Records the other server that hosts an agent; `None` if no server hosts it. Returns whether that
    /// server is a new host of the agent.
    pub(crate) fn set_elsewhere(&self, uid: &AgentUid, server: Option<&Arc<str>>, now: Micros) -> bool {
        let mut inner = self.inner.lock();
        let Some(server) = server else {
            if inner.elsewhere.remove(uid).is_some() && inner.line(uid).is_none() {
                // Restart the silence timeout, so that the agent has time to reconnect.
                inner.agent(uid, now).restart_session(now);
            }
            return false;
        };
        if inner.line(uid).is_none() {
            inner.agent(uid, now).restart_session(now);
        }
        let before = inner.elsewhere.insert(uid.clone(), Arc::clone(server));
        before.as_ref() != Some(server)
    }

    /// Returns the number of connected agents, and the number of agents whose silence timeout has expired.
    pub fn counts(&self) -> (usize, usize) {
        let inner = self.inner.lock();
        let n_connected = inner.agents.values().filter(|agent| agent.line.is_some()).count();
        (n_connected, inner.agents.values().filter(|agent| agent.session.is_lost()).count())
    }

    /// Returns the number of driven runs, and the number of commands in their inboxes.
    pub fn load(&self) -> (usize, usize) {
        let inner = self.inner.lock();
        let waiting = |driven: &Driven| driven.inbox.max_capacity() - driven.inbox.capacity();
        (inner.runs.len(), inner.runs.values().map(waiting).sum())
    }

    /// Reports whether the silence timeout of an agent has expired. Starts the timeout if the agent is not
    /// tracked yet.
    pub(crate) fn is_lost(&self, uid: &AgentUid, now: Micros) -> bool {
        let mut inner = self.inner.lock();
        let is_elsewhere = inner.elsewhere.contains_key(uid);
        inner.agent(uid, now).session.is_lost() && !is_elsewhere
    }

    /// Feeds an input to the session of an agent. Sends messages for the agent and returns the other outputs,
    /// which the caller must handle.
    pub(crate) fn step(&self, uid: &AgentUid, input: Input, now: Micros) -> Vec<Output> {
        self.inner.lock().agent(uid, now).step(input, now)
    }

    /// Like [`Self::step`], for an input received over `line`. The input is ignored if a newer connection has
    /// replaced the line.
    pub(crate) fn step_from(&self, line: &Connection, input: Input, now: Micros) -> Vec<Output> {
        let mut inner = self.inner.lock();
        let agent = inner.agent(&line.uid, now);
        if agent.line.as_ref().is_some_and(|connected| connected.id == line.id) {
            agent.step(input, now)
        } else {
            Vec::new()
        }
    }

    /// Like [`Self::step`], for all agents. Returns the agents whose sessions have outputs.
    pub(crate) fn step_all(&self, input: &Input, now: Micros) -> Vec<(AgentUid, Vec<Output>)> {
        let Inner { agents, elsewhere, .. } = &mut *self.inner.lock();
        let stepped = agents.iter_mut().map(|(uid, agent)| {
            if agent.line.is_none() && elsewhere.contains_key(uid) {
                // The host of the agent monitors its heartbeats.
                agent.restart_session(now);
                return (uid.clone(), Vec::new());
            }
            (uid.clone(), agent.step(input.clone(), now))
        });
        stepped.filter(|(_, outputs)| !outputs.is_empty()).collect()
    }

    /// Reconciles the session of an agent with the driver's claim: the complete set of the run's attempts in
    /// flight with the agent. Returns outputs for the caller to handle, such as attempts to deliver and
    /// repeated reports.
    pub(crate) fn claim(
        &self,
        uid: &AgentUid,
        run: RunId,
        generation: Generation,
        flights: &[InFlight],
        now: Micros,
    ) -> Vec<Output> {
        let mut inner = self.inner.lock();
        let agent = inner.agent(uid, now);
        let outputs = agent.session.claim(run, generation, flights, now);
        agent.send_all(outputs)
    }

    /// Reports whether an attempt was dispatched to an agent through this server.
    pub(crate) fn is_dispatched(&self, uid: &AgentUid, key: AttemptKey) -> bool {
        let inner = self.inner.lock();
        inner.agents.get(uid).is_some_and(|agent| agent.session.in_flight().any(|flight| flight == key))
    }

    /// Returns the results of connected agents that no driver has acknowledged in time, to be resent.
    pub(crate) fn unacked_results(&self, now: Micros) -> Vec<(AgentUid, AttemptResult)> {
        let mut inner = self.inner.lock();
        let owed = inner.agents.iter_mut().filter(|(_, agent)| agent.line.is_some());
        let owed = owed.map(|(uid, agent)| (uid, agent.session.unrecorded_results(now)));
        owed.flat_map(|(uid, ends)| ends.into_iter().map(|finished| (uid.clone(), finished))).collect()
    }

    /// Sends a message to an agent, typically an attempt that its session requested.
    pub(crate) fn send(&self, uid: &AgentUid, message: ToAgent) {
        if let Some(agent) = self.inner.lock().agents.get_mut(uid) {
            agent.send(message);
        }
    }

    /// Registers a run that this server drives.
    pub(crate) fn add_run(&self, run: RunId, blueprint: Arc<Blueprint>, inbox: mpsc::Sender<Command>) {
        self.inner.lock().runs.insert(run, Driven { inbox, blueprint });
    }

    /// Reports whether an agent executes the instance of an attempt; `None` if this server does not drive the
    /// run.
    pub(crate) fn is_executor(&self, uid: &AgentUid, key: AttemptKey) -> Option<bool> {
        let inner = self.inner.lock();
        let blueprint = &inner.runs.get(&key.run)?.blueprint;
        let executor = blueprint.executor_of(key.instance).and_then(|node| blueprint.node(node));
        Some(executor == Some(uid.as_str()))
    }

    /// Unregisters a run. This closes its inbox, whereupon the driver stops.
    pub fn remove_run(&self, run: RunId) {
        self.inner.lock().runs.remove(&run);
    }

    /// Removes runs whose driver has ended. Returns them with the UIDs of their executing agents.
    pub(crate) fn take_abandoned(&self) -> Vec<(RunId, Vec<AgentUid>)> {
        let mut inner = self.inner.lock();
        let abandoned = inner.runs.extract_if(|_, driven| driven.inbox.is_closed());
        abandoned.map(|(run, driven)| (run, executors_of(&driven.blueprint))).collect()
    }

    /// Returns the inbox of a run that this server drives.
    pub(crate) fn run(&self, run: RunId) -> Option<mpsc::Sender<Command>> {
        let inner = self.inner.lock();
        let inbox = &inner.runs.get(&run)?.inbox;
        // The driver may have lost its lease and ended.
        (!inbox.is_closed()).then(|| inbox.clone())
    }

    /// Inboxes of all runs that this server drives.
    pub(crate) fn runs(&self) -> Vec<mpsc::Sender<Command>> {
        let inner = self.inner.lock();
        let driven = inner.runs.values().filter(|driven| !driven.inbox.is_closed());
        driven.map(|driven| driven.inbox.clone()).collect()
    }
}

/// Returns the UIDs of the nodes whose agents execute instances of the run.
pub(crate) fn executors_of(blueprint: &Blueprint) -> Vec<AgentUid> {
    let instances = InstanceIdx::first(blueprint.n_instances());
    let nodes: BTreeSet<NodeIdx> = instances.filter_map(|instance| blueprint.executor_of(instance)).collect();
    nodes.into_iter().filter_map(|node| blueprint.node(node).map(AgentUid::from)).collect()
}

impl Inner {
    fn agent(&mut self, uid: &AgentUid, now: Micros) -> &mut Agent {
        self.agents.entry(uid.clone()).or_insert_with(|| {
            // The requested wake-up time is ignored: all sessions are woken periodically.
            Agent { session: session(now), line: None }
        })
    }

    fn line(&self, uid: &AgentUid) -> Option<&Connected> {
        self.agents.get(uid)?.line.as_ref()
    }
}

fn session(now: Micros) -> HostSession {
    let (session, _) = HostSession::new(SessionSettings::default(), now);
    session
}

impl Agent {
    /// Resets the session and restarts the silence timeout.
    fn restart_session(&mut self, now: Micros) {
        self.session = session(now);
    }

    fn step(&mut self, input: Input, now: Micros) -> Vec<Output> {
        let outputs = self.session.step(input, now);
        self.send_all(outputs)
    }

    fn close(&mut self, now: Micros) {
        if let Some(connected) = self.line.take() {
            connected.cut.notify_one();
            self.step(Input::Disconnected, now);
        }
    }

    /// Sends messages to the agent and returns the other outputs.
    fn send_all(&mut self, outputs: Vec<Output>) -> Vec<Output> {
        let mut rest = Vec::new();
        for output in outputs {
            match output {
                Output::Send(message) => self.send(message),
                Output::Disconnect => {
                    if let Some(connected) = &self.line {
                        connected.cut.notify_one();
                    }
                }
                other => rest.push(other),
            }
        }
        rest
    }

    fn send(&mut self, message: ToAgent) {
        let Some(connected) = &self.line else { return };
        if let ToAgent::Start(attempt) = &message {
            self.session.mark_sent(attempt.key);
        }
        if connected.outbox.try_send(message).is_err() {
            tracing::warn!("agent outbox is full; closing the connection");
            connected.cut.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use stoker_engine::session::{FromAgent, Hello};
    use stoker_model::JsonMap;

    use super::*;

    const NOW: Micros = Micros(1);

    fn uid(text: &str) -> AgentUid {
        AgentUid::from(text)
    }

    fn hello(node: &str) -> Hello {
        Hello {
            node: uid(node),
            version: "1".to_owned(),
            running: Vec::new(),
            finished: Vec::new(),
            runs: Vec::new(),
            facts: JsonMap::new(),
            journal_id: None,
        }
    }

    #[test]
    fn new_connection_replaces_the_old_one() {
        let agents = Agents::default();
        let first = agents.connect(&uid("7"), None, NOW).unwrap();
        let mut second = agents.connect(&uid("7"), None, NOW).unwrap();
        agents.disconnect(&first, NOW);
        assert!(agents.is_connected(&uid("7")), "the first one is not the agent any more");
        agents.send(&uid("7"), ToAgent::RunEnded { run: RunId(1) });
        assert_eq!(second.outbox.try_recv(), Ok(ToAgent::RunEnded { run: RunId(1) }));
        agents.disconnect(&second, NOW);
        assert!(!agents.is_connected(&uid("7")));
    }

    #[tokio::test]
    async fn agent_with_a_full_outbox_is_disconnected() {
        let agents = Agents::default();
        let line = agents.connect(&uid("7"), None, NOW).unwrap();
        for _ in 0..=OUTBOX_MAX {
            agents.send(&uid("7"), ToAgent::RunEnded { run: RunId(1) });
        }
        line.cut.notified().await;
    }

    #[tokio::test]
    async fn revoking_a_credential_closes_its_connections() {
        let agents = Agents::default();
        let seven = agents.connect(&uid("7"), Some([7; 32]), NOW).unwrap();
        let eight = agents.connect(&uid("8"), Some([8; 32]), NOW).unwrap();
        agents.connect(&uid("master"), None, NOW).unwrap();
        let mut proofs = agents.credential_digests();
        proofs.sort_unstable();
        assert_eq!(proofs, [[7; 32], [8; 32]]);
        agents.close_all_with(&[[7; 32], [9; 32]], NOW);
        seven.cut.notified().await;
        let untouched = tokio::time::timeout(std::time::Duration::ZERO, eight.cut.notified()).await;
        assert!(untouched.is_err());
    }

    /// Another agent may have joined in its place.
    #[test]
    fn messages_of_a_closed_connection_are_ignored() {
        let agents = Agents::default();
        let mut line = agents.connect(&uid("7"), Some([7; 32]), NOW).unwrap();
        let facts = || Input::Message(FromAgent::Facts(JsonMap::new()));
        agents.step(&uid("7"), Input::Message(FromAgent::Hello(hello("7"))), NOW);
        assert_ne!(agents.step_from(&line, facts(), NOW), []);
        agents.close(&uid("7"), NOW);
        assert_eq!(agents.step_from(&line, facts(), NOW), []);
        assert!(!agents.is_connected(&uid("7")));
        while line.outbox.try_recv().is_ok() {}
        agents.send(&uid("7"), ToAgent::RunEnded { run: RunId(1) });
        assert!(line.outbox.try_recv().is_err(), "nothing is sent to it");
    }

    #[test]
    fn fenced_agent_cannot_connect() {
        let agents = Agents::default();
        let line = agents.connect(&uid("7"), Some([7; 32]), NOW).unwrap();
        agents.step_from(&line, Input::Message(FromAgent::Hello(hello("7"))), NOW);
        assert!(agents.is_greeted(&uid("7")));
        let fence = agents.fence(vec![uid("7"), uid("8")], NOW);
        assert!(!agents.is_connected(&uid("7")) && !agents.is_greeted(&uid("7")));
        assert!(agents.connect(&uid("7"), Some([7; 32]), NOW).is_none());
        assert!(agents.connect(&uid("9"), Some([9; 32]), NOW).is_some());
        drop(fence);
        assert!(agents.connect(&uid("7"), Some([7; 32]), NOW).is_some());
        assert!(!agents.is_greeted(&uid("7")), "before its hello");
    }

    #[test]
    fn agent_hosted_elsewhere_is_lost_only_after_its_host_drops_it() {
        let agents = Agents::default();
        let server: Arc<str> = "other".into();
        assert!(agents.set_elsewhere(&uid("7"), Some(&server), NOW));
        assert!(!agents.set_elsewhere(&uid("7"), Some(&server), NOW), "that is known");
        assert_eq!(agents.location(&uid("7")), AgentLocation::Elsewhere(Arc::clone(&server)));
        let later = NOW.plus_seconds(60);
        assert_eq!(agents.step_all(&Input::Wake, later), []);
        assert!(!agents.is_lost(&uid("7"), later));
        assert!(!agents.set_elsewhere(&uid("7"), None, later));
        assert_eq!(agents.location(&uid("7")), AgentLocation::Nowhere);
        let outputs_of_agents = agents.step_all(&Input::Wake, later);
        let is_lost = outputs_of_agents.iter().any(|(_, outputs)| outputs.contains(&Output::Lost));
        assert!(!is_lost, "it has time to come");
        let outputs_of_agents = agents.step_all(&Input::Wake, later.plus_seconds(60));
        assert_eq!(outputs_of_agents, [(uid("7"), vec![Output::Lost])]);
    }

    #[test]
    fn stale_host_records_do_not_affect_a_connected_agent() {
        let agents = Agents::default();
        let mut line = agents.connect(&uid("7"), None, NOW).unwrap();
        agents.step_from(&line, Input::Message(FromAgent::Hello(hello("7"))), NOW);
        assert!(matches!(line.outbox.try_recv(), Ok(ToAgent::Welcome { .. })));
        agents.set_elsewhere(&uid("7"), Some(&"other".into()), NOW);
        assert_eq!(agents.location(&uid("7")), AgentLocation::Here);
        agents.set_elsewhere(&uid("7"), None, NOW);
        agents.step(&uid("7"), Input::RunStatus { run: RunId(1), generation: None }, NOW);
        assert_eq!(
            line.outbox.try_recv(),
            Ok(ToAgent::RunEnded { run: RunId(1) }),
            "it is spoken with still"
        );
    }

    #[test]
    fn agent_that_never_connects_is_lost_after_the_timeout() {
        let agents = Agents::default();
        assert!(!agents.is_lost(&uid("7"), NOW));
        let outputs_of_agents = agents.step_all(&Input::Wake, NOW.plus_seconds(60));
        assert_eq!(outputs_of_agents, [(uid("7"), vec![Output::Lost])]);
        assert!(agents.is_lost(&uid("7"), NOW.plus_seconds(60)));
    }
}
