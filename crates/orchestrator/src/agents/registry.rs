//! Agents as this server knows them, and the runs it carries out: the one place where messages change hands.
//!
//! Nothing here is durable. What matters is said again when an agent connects or a run is taken up; the machine that
//! sees to it is [`HostSession`], and this is what drives it. An agent that is with another server of the group has no
//! session here that counts: whatever is remembered of it begins anew when it comes.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stoker_engine::blueprint::Blueprint;
use stoker_engine::run::InFlight;
use stoker_engine::session::host::HostSession;
use stoker_engine::session::server::{Input, Output, Settings};
use stoker_engine::session::{AttemptKey, Finished, Generation, ToAgent};
use stoker_model::{Micros, RunId};
use tokio::sync::{Notify, mpsc};

use super::command::Command;

/// Messages that wait for a slow agent. One that does not keep up is cut off, and told everything again when it is
/// back.
const OUTBOX_MAX: usize = 4096;
/// Commands that wait for a run. Whoever sends more waits in turn.
pub(crate) const INBOX_MAX: usize = 8192;

#[derive(Default)]
pub struct Agents {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    agents: HashMap<String, Agent>,
    runs: HashMap<RunId, Driven>,
    /// Agents that are with another server of which something is heard.
    elsewhere: HashMap<String, Arc<str>>,
    next_line: u64,
}

struct Agent {
    session: HostSession,
    line: Option<Connected>,
}

/// Where an agent is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AgentLocation {
    Here,
    /// With the server of this id.
    Elsewhere(Arc<str>),
    /// With nobody of whom something is heard.
    Nowhere,
}

struct Connected {
    /// Tells a connection from the one that came after it.
    id: u64,
    outbox: mpsc::Sender<ToAgent>,
    cut: Arc<Notify>,
    /// The digest of the credential it came with; agents inside of the server have none.
    proof: Option<Proof>,
}

/// The digest of a credential.
pub type Proof = [u8; 32];

/// A run that is carried out here.
#[derive(Clone)]
struct Driven {
    inbox: mpsc::Sender<Command>,
    /// Says who carries out what.
    blueprint: Arc<Blueprint>,
}

/// The server's end of a connection.
pub(crate) struct Line {
    pub(crate) uid: String,
    pub(crate) id: u64,
    pub(crate) outbox: mpsc::Receiver<ToAgent>,
    /// Somebody wants the connection to end.
    pub(crate) cut: Arc<Notify>,
}

impl Agents {
    /// An agent has connected; a former connection of the same agent is cut.
    pub(crate) fn connect(&self, uid: &str, proof: Option<Proof>, now: Micros) -> Line {
        let (sender, outbox) = mpsc::channel(OUTBOX_MAX);
        let cut = Arc::new(Notify::new());
        let mut inner = self.lock();
        inner.next_line += 1;
        let id = inner.next_line;
        inner.elsewhere.remove(uid);
        let agent = inner.agent(uid, now);
        let connected = Connected { id, outbox: sender, cut: Arc::clone(&cut), proof };
        if let Some(former) = agent.line.replace(connected) {
            former.cut.notify_one();
        }
        Line { uid: uid.to_owned(), id, outbox, cut }
    }

    /// A connection is over.
    pub(crate) fn disconnect(&self, line: &Line, now: Micros) {
        let mut inner = self.lock();
        let agent = inner.agent(&line.uid, now);
        if agent.line.as_ref().is_some_and(|connected| connected.id == line.id) {
            agent.line = None;
            agent.step(Input::Disconnected, now);
        }
    }

    /// Ends the connection of an agent.
    pub(crate) fn close(&self, uid: &str) {
        if let Some(agent) = self.lock().agents.get(uid)
            && let Some(connected) = &agent.line
        {
            connected.cut.notify_one();
        }
    }

    /// With what all that are connected have proved who they are.
    pub(crate) fn proofs(&self) -> Vec<Proof> {
        self.lock().agents.values().filter_map(|agent| agent.line.as_ref()?.proof).collect()
    }

    /// Ends the connections that began with these.
    pub(crate) fn cut_off(&self, proofs: &[Proof]) {
        for agent in self.lock().agents.values() {
            if let Some(connected) = &agent.line
                && connected.proof.is_some_and(|proof| proofs.contains(&proof))
            {
                connected.cut.notify_one();
            }
        }
    }

    /// Whether it is connected, to this server or to another.
    pub fn is_connected(&self, uid: &str) -> bool {
        self.location(uid) != AgentLocation::Nowhere
    }

    pub(crate) fn location(&self, uid: &str) -> AgentLocation {
        let inner = self.lock();
        if inner.line(uid).is_some() {
            return AgentLocation::Here;
        }
        inner
            .elsewhere
            .get(uid)
            .map_or(AgentLocation::Nowhere, |server| AgentLocation::Elsewhere(Arc::clone(server)))
    }

    /// Whether another server was said to have it.
    pub(crate) fn is_away(&self, uid: &str) -> bool {
        self.lock().elsewhere.contains_key(uid)
    }

    /// The number of the connection of an agent, if it is here.
    pub(crate) fn line_id(&self, uid: &str) -> Option<u64> {
        self.lock().line(uid).map(|connected| connected.id)
    }

    /// Another server has the agent, or none has it any more. Whether that server has not had it before.
    pub(crate) fn set_elsewhere(&self, uid: &str, server: Option<&Arc<str>>, now: Micros) -> bool {
        let mut inner = self.lock();
        let Some(server) = server else {
            if inner.elsewhere.remove(uid).is_some() && inner.line(uid).is_none() {
                // From now on it is waited for.
                inner.agent(uid, now).begin_anew(now);
            }
            return false;
        };
        if inner.line(uid).is_none() {
            inner.agent(uid, now).begin_anew(now);
        }
        let before = inner.elsewhere.insert(uid.to_owned(), Arc::clone(server));
        before.as_ref() != Some(server)
    }

    /// How many agents are connected, and how many were not heard of for too long.
    pub fn counts(&self) -> (usize, usize) {
        let inner = self.lock();
        let n_connected = inner.agents.values().filter(|agent| agent.line.is_some()).count();
        (n_connected, inner.agents.values().filter(|agent| agent.session.is_lost()).count())
    }

    /// How many runs are carried out here, and how many commands wait for them.
    pub fn load(&self) -> (usize, usize) {
        let inner = self.lock();
        let waiting = |driven: &Driven| driven.inbox.max_capacity() - driven.inbox.capacity();
        (inner.runs.len(), inner.runs.values().map(waiting).sum())
    }

    /// From now on the agent is waited for. Whether it was not heard of for too long already.
    pub(crate) fn is_lost(&self, uid: &str, now: Micros) -> bool {
        let mut inner = self.lock();
        let is_elsewhere = inner.elsewhere.contains_key(uid);
        inner.agent(uid, now).session.is_lost() && !is_elsewhere
    }

    /// Something happened to the session with an agent. What it has to be told is sent; the rest is the caller's.
    pub(crate) fn step(&self, uid: &str, input: Input, now: Micros) -> Vec<Output> {
        self.lock().agent(uid, now).step(input, now)
    }

    /// The same for something that came over a connection, unless another has taken its place.
    pub(crate) fn step_from(&self, line: &Line, input: Input, now: Micros) -> Vec<Output> {
        let mut inner = self.lock();
        let agent = inner.agent(&line.uid, now);
        if agent.line.as_ref().is_some_and(|connected| connected.id == line.id) {
            agent.step(input, now)
        } else {
            Vec::new()
        }
    }

    /// The same for all agents.
    pub(crate) fn step_all(&self, input: &Input, now: Micros) -> Vec<(String, Vec<Output>)> {
        let Inner { agents, elsewhere, .. } = &mut *self.lock();
        let stepped = agents.iter_mut().map(|(uid, agent)| {
            if agent.line.is_none() && elsewhere.contains_key(uid) {
                // Whoever has it watches over it.
                agent.begin_anew(now);
                return (uid.clone(), Vec::new());
            }
            (uid.clone(), agent.step(input.clone(), now))
        });
        stepped.filter(|(_, outputs)| !outputs.is_empty()).collect()
    }

    /// Whoever carries a run out says what of it is in flight with an agent. What the agent is to be sent, and what it
    /// said of it before.
    pub(crate) fn claim(
        &self,
        uid: &str,
        (run, generation): (RunId, Generation),
        flights: &[InFlight],
        now: Micros,
    ) -> Vec<Output> {
        let mut inner = self.lock();
        let agent = inner.agent(uid, now);
        let outputs = agent.session.claim(run, generation, flights, now);
        agent.send_all(outputs)
    }

    /// Whether an agent that is here was asked for an attempt.
    pub(crate) fn was_asked(&self, uid: &str, key: AttemptKey) -> bool {
        let inner = self.lock();
        inner.agents.get(uid).is_some_and(|agent| agent.session.in_flight().any(|flight| flight == key))
    }

    /// Ends that nobody has taken for a while, to be told again.
    pub(crate) fn owed(&self, now: Micros) -> Vec<(String, Finished)> {
        let mut inner = self.lock();
        let owed = inner.agents.iter_mut().filter(|(_, agent)| agent.line.is_some());
        let owed = owed.map(|(uid, agent)| (uid, agent.session.owed(now)));
        owed.flat_map(|(uid, ends)| ends.into_iter().map(|finished| (uid.clone(), finished))).collect()
    }

    /// An attempt, made at the request of the session.
    pub(crate) fn send(&self, uid: &str, message: ToAgent) {
        if let Some(agent) = self.lock().agents.get_mut(uid) {
            agent.send(message);
        }
    }

    /// A run is carried out here from now on.
    pub(crate) fn add_run(&self, run: RunId, blueprint: Arc<Blueprint>, inbox: mpsc::Sender<Command>) {
        self.lock().runs.insert(run, Driven { inbox, blueprint });
    }

    /// Whether an attempt is this agent's to carry out; `None`: its run is not carried out here.
    pub(crate) fn is_executor(&self, uid: &str, key: AttemptKey) -> Option<bool> {
        let inner = self.lock();
        let blueprint = &inner.runs.get(&key.run)?.blueprint;
        let executor = blueprint.executor_of(key.instance).and_then(|node| blueprint.node(node));
        Some(executor == Some(uid))
    }

    /// Whoever carries it out notices, and goes on no longer.
    pub fn remove_run(&self, run: RunId) {
        self.lock().runs.remove(&run);
    }

    /// Takes away the runs that are in nobody's hands here any more; with each the uids of those who had to do with it.
    pub(crate) fn take_abandoned(&self) -> Vec<(RunId, Vec<String>)> {
        let mut inner = self.lock();
        let abandoned = inner.runs.extract_if(|_, driven| driven.inbox.is_closed());
        abandoned.map(|(run, driven)| (run, executors_of(&driven.blueprint))).collect()
    }

    /// Where a run takes its commands that is carried out here.
    pub(crate) fn run(&self, run: RunId) -> Option<mpsc::Sender<Command>> {
        let inner = self.lock();
        let inbox = &inner.runs.get(&run)?.inbox;
        // It may have been lost to another server, in the middle of something.
        (!inbox.is_closed()).then(|| inbox.clone())
    }

    /// The same of all of them.
    pub(crate) fn runs(&self) -> Vec<mpsc::Sender<Command>> {
        let inner = self.lock();
        let driven = inner.runs.values().filter(|driven| !driven.inbox.is_closed());
        driven.map(|driven| driven.inbox.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Uids of the nodes whose agents have something to do.
pub(crate) fn executors_of(blueprint: &Blueprint) -> Vec<String> {
    let instances = 0..blueprint.n_instances() as u32;
    let nodes: BTreeSet<u32> = instances.filter_map(|instance| blueprint.executor_of(instance)).collect();
    nodes.into_iter().filter_map(|node| blueprint.node(node).map(str::to_owned)).collect()
}

impl Inner {
    fn agent(&mut self, uid: &str, now: Micros) -> &mut Agent {
        self.agents.entry(uid.to_owned()).or_insert_with(|| {
            // Looked at from time to time whatever it asks for.
            Agent { session: session(now), line: None }
        })
    }

    fn line(&self, uid: &str) -> Option<&Connected> {
        self.agents.get(uid)?.line.as_ref()
    }
}

fn session(now: Micros) -> HostSession {
    let (session, _) = HostSession::new(Settings::default(), now);
    session
}

impl Agent {
    /// Nothing is known of it, but that it was there a moment ago.
    fn begin_anew(&mut self, now: Micros) {
        self.session = session(now);
    }

    fn step(&mut self, input: Input, now: Micros) -> Vec<Output> {
        let outputs = self.session.step(input, now);
        self.send_all(outputs)
    }

    /// Sends what is for the agent; the rest is the caller's.
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
            self.session.sent(attempt.key);
        }
        if connected.outbox.try_send(message).is_err() {
            tracing::warn!("an agent does not keep up and is cut off");
            connected.cut.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Micros = Micros(1);

    #[test]
    fn a_new_connection_takes_the_place_of_the_old_one() {
        let agents = Agents::default();
        let first = agents.connect("7", None, NOW);
        let mut second = agents.connect("7", None, NOW);
        agents.disconnect(&first, NOW);
        assert!(agents.is_connected("7"), "the first one is not the agent any more");
        agents.send("7", ToAgent::RunEnded { run: RunId(1) });
        assert_eq!(second.outbox.try_recv(), Ok(ToAgent::RunEnded { run: RunId(1) }));
        agents.disconnect(&second, NOW);
        assert!(!agents.is_connected("7"));
    }

    #[tokio::test]
    async fn an_agent_that_does_not_read_is_cut_off() {
        let agents = Agents::default();
        let line = agents.connect("7", None, NOW);
        for _ in 0..=OUTBOX_MAX {
            agents.send("7", ToAgent::RunEnded { run: RunId(1) });
        }
        line.cut.notified().await;
    }

    #[tokio::test]
    async fn connections_end_with_the_credential_they_began_with() {
        let agents = Agents::default();
        let (seven, eight) =
            (agents.connect("7", Some([7; 32]), NOW), agents.connect("8", Some([8; 32]), NOW));
        agents.connect("master", None, NOW);
        let mut proofs = agents.proofs();
        proofs.sort_unstable();
        assert_eq!(proofs, [[7; 32], [8; 32]]);
        agents.cut_off(&[[7; 32], [9; 32]]);
        seven.cut.notified().await;
        let untouched = tokio::time::timeout(std::time::Duration::ZERO, eight.cut.notified()).await;
        assert!(untouched.is_err());
    }

    #[test]
    fn an_agent_of_another_server_is_not_missed_until_that_one_has_it_no_longer() {
        let agents = Agents::default();
        let server: Arc<str> = "other".into();
        assert!(agents.set_elsewhere("7", Some(&server), NOW));
        assert!(!agents.set_elsewhere("7", Some(&server), NOW), "that is known");
        assert_eq!(agents.location("7"), AgentLocation::Elsewhere(Arc::clone(&server)));
        let later = NOW.plus_seconds(60);
        assert_eq!(agents.step_all(&Input::Wake, later), []);
        assert!(!agents.is_lost("7", later));
        assert!(!agents.set_elsewhere("7", None, later));
        assert_eq!(agents.location("7"), AgentLocation::Nowhere);
        let told = agents.step_all(&Input::Wake, later);
        let is_lost = told.iter().any(|(_, outputs)| outputs.contains(&Output::Lost));
        assert!(!is_lost, "it has time to come");
        let told = agents.step_all(&Input::Wake, later.plus_seconds(60));
        assert_eq!(told, [("7".to_owned(), vec![Output::Lost])]);
    }

    #[test]
    fn old_news_about_an_agent_that_is_here_change_nothing() {
        let agents = Agents::default();
        let mut line = agents.connect("7", None, NOW);
        let hello = stoker_engine::session::Hello {
            node: "7".to_owned(),
            version: "1".to_owned(),
            running: Vec::new(),
            finished: Vec::new(),
            runs: Vec::new(),
            facts: stoker_model::JsonMap::new(),
        };
        agents.step_from(&line, Input::Message(stoker_engine::session::FromAgent::Hello(hello)), NOW);
        assert!(matches!(line.outbox.try_recv(), Ok(ToAgent::Welcome { .. })));
        agents.set_elsewhere("7", Some(&"other".into()), NOW);
        assert_eq!(agents.location("7"), AgentLocation::Here);
        agents.set_elsewhere("7", None, NOW);
        agents.step("7", Input::RunIs { run: RunId(1), generation: None }, NOW);
        assert_eq!(
            line.outbox.try_recv(),
            Ok(ToAgent::RunEnded { run: RunId(1) }),
            "it is spoken with still"
        );
    }

    #[test]
    fn an_agent_that_never_came_is_lost_after_a_while() {
        let agents = Agents::default();
        assert!(!agents.is_lost("7", NOW));
        let told = agents.step_all(&Input::Wake, NOW.plus_seconds(60));
        assert_eq!(told, [("7".to_owned(), vec![Output::Lost])]);
        assert!(agents.is_lost("7", NOW.plus_seconds(60)));
    }
}
