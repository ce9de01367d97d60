//! Agents as this server knows them, and the runs it carries out: the one place where messages change hands.
//!
//! Nothing here is durable. What matters is said again when an agent connects or a run is taken up; the machine that
//! sees to it is [`ServerSession`], and this is what drives it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stoker_engine::blueprint::Blueprint;
use stoker_engine::session::server::{Input, Output, ServerSession, Settings};
use stoker_engine::session::{AttemptKey, Generation, ToAgent};
use stoker_model::{Micros, RunId};
use tokio::sync::{Notify, mpsc};

use super::command::Command;

/// Messages that wait for a slow agent. One that does not keep up is cut off, and told everything again when it is
/// back.
const OUTBOX_MAX: usize = 4096;
/// Commands that wait for a run. Whoever sends more waits in turn.
pub(crate) const INBOX_MAX: usize = 8192;

#[derive(Default)]
pub(crate) struct Agents {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    agents: HashMap<String, Agent>,
    runs: HashMap<RunId, Driven>,
    next_line: u64,
}

struct Agent {
    session: ServerSession,
    line: Option<Connected>,
}

struct Connected {
    /// Tells a connection from the one that came after it.
    id: u64,
    outbox: mpsc::Sender<ToAgent>,
    cut: Arc<Notify>,
}

/// A run that is carried out here.
#[derive(Clone)]
struct Driven {
    inbox: mpsc::Sender<Command>,
    generation: Generation,
    /// Says who carries out what.
    blueprint: Arc<Blueprint>,
}

/// The server's end of a connection.
pub(crate) struct Line {
    pub(crate) uid: String,
    id: u64,
    pub(crate) outbox: mpsc::Receiver<ToAgent>,
    /// Somebody wants the connection to end.
    pub(crate) cut: Arc<Notify>,
}

impl Agents {
    /// An agent has connected; a former connection of the same agent is cut.
    pub(crate) fn connect(&self, uid: &str, now: Micros) -> Line {
        let (sender, outbox) = mpsc::channel(OUTBOX_MAX);
        let cut = Arc::new(Notify::new());
        let mut inner = self.lock();
        inner.next_line += 1;
        let id = inner.next_line;
        let agent = inner.agent(uid, now);
        if let Some(former) = agent.line.replace(Connected { id, outbox: sender, cut: Arc::clone(&cut) }) {
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

    pub(crate) fn is_connected(&self, uid: &str) -> bool {
        self.lock().agents.get(uid).is_some_and(|agent| agent.line.is_some())
    }

    pub(crate) fn n_connected(&self) -> usize {
        self.lock().agents.values().filter(|agent| agent.line.is_some()).count()
    }

    /// From now on the agent is waited for. Whether it was not heard of for too long already.
    pub(crate) fn is_lost(&self, uid: &str, now: Micros) -> bool {
        self.lock().agent(uid, now).session.is_lost()
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
        let mut inner = self.lock();
        let stepped =
            inner.agents.iter_mut().map(|(uid, agent)| (uid.clone(), agent.step(input.clone(), now)));
        stepped.filter(|(_, outputs)| !outputs.is_empty()).collect()
    }

    /// An attempt, made at the request of the session.
    pub(crate) fn send(&self, uid: &str, message: ToAgent) {
        if let Some(agent) = self.lock().agents.get_mut(uid) {
            agent.send(message);
        }
    }

    /// A run is carried out here from now on.
    pub(crate) fn add_run(
        &self,
        run: RunId,
        generation: Generation,
        blueprint: Arc<Blueprint>,
        inbox: mpsc::Sender<Command>,
    ) {
        self.lock().runs.insert(run, Driven { inbox, generation, blueprint });
    }

    /// Whether an attempt is this agent's to carry out; `None`: its run is not carried out here.
    pub(crate) fn is_executor(&self, uid: &str, key: AttemptKey) -> Option<bool> {
        let inner = self.lock();
        let blueprint = &inner.runs.get(&key.run)?.blueprint;
        let executor = blueprint.executor_of(key.instance).and_then(|node| blueprint.node(node));
        Some(executor == Some(uid))
    }

    /// Whoever carries it out notices, and goes on no longer.
    pub(crate) fn remove_run(&self, run: RunId) {
        self.lock().runs.remove(&run);
    }

    pub(crate) fn run(&self, run: RunId) -> Option<mpsc::Sender<Command>> {
        self.lock().runs.get(&run).map(|driven| driven.inbox.clone())
    }

    pub(crate) fn generation(&self, run: RunId) -> Option<Generation> {
        self.lock().runs.get(&run).map(|driven| driven.generation)
    }

    /// Where every run that is carried out here takes its commands.
    pub(crate) fn runs(&self) -> Vec<mpsc::Sender<Command>> {
        self.lock().runs.values().map(|driven| driven.inbox.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn agent(&mut self, uid: &str, now: Micros) -> &mut Agent {
        self.agents.entry(uid.to_owned()).or_insert_with(|| {
            // Looked at from time to time whatever it asks for.
            let (session, _) = ServerSession::new(Settings::default(), now);
            Agent { session, line: None }
        })
    }
}

impl Agent {
    fn step(&mut self, input: Input, now: Micros) -> Vec<Output> {
        let mut rest = Vec::new();
        for output in self.session.step(input, now) {
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
        let first = agents.connect("7", NOW);
        let mut second = agents.connect("7", NOW);
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
        let line = agents.connect("7", NOW);
        for _ in 0..=OUTBOX_MAX {
            agents.send("7", ToAgent::RunEnded { run: RunId(1) });
        }
        line.cut.notified().await;
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
