//! Servers: the real machines of the run and of the sessions, and a store that keeps a step whole or not at all.

use stoker_engine::run::{Effect, Event, Input, Run, Step, step};
use stoker_engine::session::server::{Input as SessionInput, Output, ServerSession, Settings};
use stoker_engine::session::{Attempt, AttemptKey, FromAgent, Generation, Mode, ToAgent};
use stoker_model::Json;

use crate::world::{ConnectionId, Happening, RUN, Sabotage, World};

pub(crate) struct Server {
    pub(crate) is_alive: bool,
    pub(crate) generation: u64,
    pub(crate) run: Run,
    /// One for each agent.
    sessions: Vec<ServerSession>,
    connections: Vec<Option<ConnectionId>>,
}

/// Whether the store has taken something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Yes,
    No,
}

impl World<'_> {
    pub(crate) fn newest_server(&self) -> Option<usize> {
        self.servers.iter().rposition(|server| server.is_alive)
    }

    pub(crate) fn server_starts(&mut self) {
        self.generation += 1;
        let run = match self.read_history() {
            Ok(run) => run,
            Err(broken) => {
                self.truth.broken.push(broken);
                return;
            }
        };
        let (mut sessions, mut outputs) = (Vec::new(), Vec::new());
        for _ in &self.agents {
            let (session, first) = ServerSession::new(Settings::default(), self.now);
            sessions.push(session);
            outputs.push(first);
        }
        let connections = vec![None; self.agents.len()];
        let generation = self.generation;
        self.servers.push(Server { is_alive: true, generation, run, sessions, connections });
        let server = self.servers.len() - 1;
        for (agent, outputs) in outputs.into_iter().enumerate() {
            self.session_outputs(server, agent, outputs);
        }
        let first = if self.history.is_empty() { Input::Begin } else { Input::TakeOver };
        self.run_input(server, first);
        let effects = self.servers[server].run.effects();
        self.effects(server, effects);
    }

    /// The run as the store has it: events are texts there.
    fn read_history(&self) -> Result<Run, String> {
        let stored = self.history.iter().map(|event| event.to_json().to_string());
        let read = |text: String| {
            let json: Json = text.parse().map_err(|error| format!("{text}: {error}"))?;
            Event::from_json(&json).map_err(|error| error.to_string())
        };
        let events: Vec<Event> = stored.map(read).collect::<Result<_, String>>()?;
        Run::restored(RUN, self.blueprint, &events).map_err(|broken| broken.to_string())
    }

    /// Another server takes the run while this one still lives and knows nothing of it.
    pub(crate) fn takeover(&mut self) {
        let Some(old) = self.newest_server() else { return };
        self.server_starts();
        let dies_after_ms = self.dice.between(0, 60_000);
        self.after_ms(dies_after_ms, Happening::ServerDies(old));
    }

    /// It ends, with its connections.
    pub(crate) fn server_dies(&mut self, server: usize) {
        if !std::mem::replace(&mut self.servers[server].is_alive, false) {
            return;
        }
        for connection in 0..self.connections.len() {
            if self.connections[connection].server == server {
                self.break_connection(connection);
            }
        }
        // Somebody restarts it when none is left.
        if self.newest_server().is_none() {
            let delay_ms = self.dice.between(100, 60_000);
            self.after_ms(delay_ms, Happening::ServerStarts);
        }
    }

    pub(crate) fn server_crashes(&mut self, server: usize) {
        self.n_server_crashes += 1;
        self.server_dies(server);
    }

    /// Gives something to the run of a server; what follows is kept, then done.
    /// Whether the store has it now.
    pub(crate) fn run_input(&mut self, server: usize, input: Input) -> bool {
        self.servers[server].is_alive && self.take(server, input) == Kept::Yes
    }

    fn take(&mut self, server: usize, input: Input) -> Kept {
        let decided = step(&mut self.servers[server].run, self.blueprint, input, self.now);
        let Step { events, effects } = decided.unwrap_or_default();
        if self.is_chaos() && self.dice.one_in(150) {
            self.server_crashes(server);
            return Kept::No;
        }
        let is_fenced = self.servers[server].generation != self.generation;
        if is_fenced && self.sabotage != Sabotage::NoFence {
            // Somebody else has the run: what was decided here never happened.
            self.server_dies(server);
            return Kept::No;
        }
        for event in &events {
            self.say(|| format!("             kept by server {server}: {:?}", event.kind));
        }
        self.truth.committed(&events);
        self.history.extend(events);
        if self.is_chaos() && self.dice.one_in(150) {
            self.server_crashes(server);
            return Kept::Yes;
        }
        self.effects(server, effects);
        Kept::Yes
    }

    fn effects(&mut self, server: usize, effects: Vec<Effect>) {
        for effect in effects {
            if !self.servers[server].is_alive {
                return;
            }
            let generation = Generation(self.servers[server].generation);
            match effect {
                Effect::Dispatch(key) => {
                    self.session(server, self.executor(key), SessionInput::Dispatch { key, generation });
                }
                Effect::Cancel { key, how } => {
                    self.session(server, self.executor(key), SessionInput::Cancel { key, generation, how });
                }
                Effect::WakeAt(at) => self.at(at, Happening::RunWakes(server)),
                Effect::RunEnded(_) => {
                    for agent in 0..self.agents.len() {
                        self.session(server, agent, SessionInput::RunIs { run: RUN, generation: None });
                    }
                }
                Effect::Succeeded { .. } | Effect::NodeEnded { .. } => {}
            }
        }
    }

    fn executor(&self, key: AttemptKey) -> usize {
        self.blueprint.executor_of(key.instance).map_or(0, |node| node as usize)
    }

    fn session(&mut self, server: usize, agent: usize, input: SessionInput) {
        let outputs = self.servers[server].sessions[agent].step(input, self.now);
        self.session_outputs(server, agent, outputs);
    }

    fn session_outputs(&mut self, server: usize, agent: usize, outputs: Vec<Output>) {
        for output in outputs {
            if !self.servers[server].is_alive {
                return;
            }
            let connection = self.servers[server].connections[agent];
            match output {
                Output::Send(message) => {
                    if let Some(connection) = connection {
                        self.send_to_agent(connection, message);
                    }
                }
                Output::Deliver { key, generation } => {
                    if let Some(connection) = connection {
                        let attempt = self.attempt(key, generation);
                        self.send_to_agent(connection, ToAgent::Start(attempt));
                    }
                }
                Output::Started { key, at } => {
                    self.run_input(server, Input::AttemptStarted { key, at });
                }
                Output::Finished(finished) => {
                    let keys = vec![finished.key];
                    if self.sabotage == Sabotage::EarlyAcknowledgement {
                        self.session(server, agent, SessionInput::Recorded { keys: keys.clone() });
                    }
                    let (key, at) = (finished.key, finished.at);
                    let (end, summary) = (finished.end, finished.summary);
                    let kept = self.take(server, Input::AttemptFinished { key, at, end, summary });
                    if kept == Kept::Yes && self.servers[server].is_alive {
                        self.session(server, agent, SessionInput::Recorded { keys });
                    }
                }
                Output::Lost => {
                    self.run_input(server, Input::NodeLost { node: agent as u32 });
                }
                Output::Back => {
                    self.run_input(server, Input::NodeBack { node: agent as u32 });
                }
                Output::Disconnect => {
                    if let Some(connection) = connection {
                        self.break_connection(connection);
                    }
                }
                Output::AskRuns { runs } => {
                    let has_ended = self.servers[server].run.has_ended();
                    let generation = (!has_ended).then_some(Generation(self.servers[server].generation));
                    for run in runs {
                        self.session(server, agent, SessionInput::RunIs { run, generation });
                    }
                }
                Output::WakeAt(at) => self.at(at, Happening::SessionWakes(server, agent)),
                Output::Printed { .. } | Output::Facts(_) => {}
            }
        }
    }

    fn attempt(&self, key: AttemptKey, generation: Generation) -> Attempt {
        let (task, node) = self.blueprint.names(key.instance).unwrap_or_default();
        Attempt {
            key,
            generation,
            task: task.to_owned(),
            node: node.to_owned(),
            task_type: "shell".to_owned(),
            parameters: Json::Null,
            mode: Mode::Normal,
            debug: false,
            timeout_ms: self.blueprint.policy_of(key.instance).map_or(0, |policy| policy.timeout_ms),
            secrets: Vec::new(),
        }
    }

    pub(crate) fn arrives_at_server(&mut self, id: ConnectionId, message: FromAgent) {
        let (agent, server) = (self.connections[id].agent, self.connections[id].server);
        if !self.connections[id].is_open || !self.servers[server].is_alive {
            return;
        }
        if matches!(message, FromAgent::Hello(_)) {
            self.servers[server].connections[agent] = Some(id);
        }
        if self.servers[server].connections[agent] == Some(id) {
            self.session(server, agent, SessionInput::Message(message));
        }
    }

    pub(crate) fn session_disconnected(&mut self, server: usize, agent: usize, id: ConnectionId) {
        if self.servers[server].connections[agent] == Some(id) {
            self.servers[server].connections[agent] = None;
            if self.servers[server].is_alive {
                self.session(server, agent, SessionInput::Disconnected);
            }
        }
    }

    pub(crate) fn session_wakes(&mut self, server: usize, agent: usize) {
        // The place of stages has no agent, and nobody waits for one.
        let is_sync = self.blueprint.node(agent as u32) == Some("sync");
        if self.servers[server].is_alive && !is_sync {
            self.session(server, agent, SessionInput::Wake);
        }
    }
}
