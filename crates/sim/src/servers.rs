//! Servers: the real machines of the run and of the sessions, and a store that keeps a step whole or not at all.
//!
//! One of them carries the run out, or thinks so; any of them may have an agent. What passes between both is in `letters.rs`.

use stoker_engine::run::{Effect, Event, InFlight, Input, Run, Step, step};
use stoker_engine::session::host::HostSession;
use stoker_engine::session::server::{Input as SessionInput, Output, Settings};
use stoker_engine::session::{Attempt, AttemptKey, FromAgent, Generation, Mode, ToAgent};
use stoker_model::Json;

use crate::letters::Letter;
use crate::world::{ConnectionId, Happening, RUN, Sabotage, World};

/// After so long, somebody takes up a run of which nothing is heard, and a little later.
const LEASE_MS: u64 = 8000;
/// How often a driver looks for what was lost, and a host for ends that nobody took.
const AGAIN_MS: u64 = 2000;

pub(crate) struct Server {
    pub(crate) is_alive: bool,
    /// The run as this server knows it, with the generation it took it with; none if it never did, or lost it.
    pub(crate) drives: Option<(u64, Run)>,
    /// One for each agent.
    pub(crate) sessions: Vec<HostSession>,
    pub(crate) connections: Vec<Option<ConnectionId>>,
}

/// Whether the store has taken something.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    Yes,
    No,
}

impl World<'_> {
    /// The server that has the run, if it lives.
    pub(crate) fn driver(&self) -> Option<usize> {
        let has_it = |server: &Server| {
            server.drives.as_ref().is_some_and(|(generation, _)| *generation == self.generation)
        };
        self.servers.iter().position(|server| server.is_alive && has_it(server))
    }

    pub(crate) fn some_server(&mut self) -> Option<usize> {
        let alive: Vec<usize> = (0..self.servers.len()).filter(|idx| self.servers[*idx].is_alive).collect();
        self.dice.pick(&alive).copied()
    }

    /// One more, which takes the run up if nobody has it.
    pub(crate) fn server_starts(&mut self) {
        let (mut sessions, mut outputs) = (Vec::new(), Vec::new());
        for _ in &self.agents {
            let (session, first) = HostSession::new(Settings::default(), self.now);
            sessions.push(session);
            outputs.push(first);
        }
        let connections = vec![None; self.agents.len()];
        self.servers.push(Server { is_alive: true, drives: None, sessions, connections });
        let server = self.servers.len() - 1;
        for (agent, outputs) in outputs.into_iter().enumerate() {
            self.session_outputs(server, agent, outputs);
        }
        self.after_ms(AGAIN_MS, Happening::Again(server));
        if self.driver().is_none() {
            self.take_up(server);
        }
    }

    /// Takes the run, whoever has it.
    pub(crate) fn take_up(&mut self, server: usize) {
        if !self.servers[server].is_alive {
            return;
        }
        self.generation += 1;
        let run = match self.read_history() {
            Ok(run) => run,
            Err(broken) => {
                self.truth.broken.push(broken);
                return;
            }
        };
        self.servers[server].drives = Some((self.generation, run));
        let is_first = self.history.is_empty();
        self.run_input(server, if is_first { Input::Begin } else { Input::TakeOver });
        let Some((_, run)) = self.servers[server].drives.as_ref().filter(|_| !is_first) else { return };
        let is_claimed = |effect: &Effect| matches!(effect, Effect::Dispatch(_) | Effect::Cancel { .. });
        let effects = run.effects().into_iter().filter(|effect| !is_claimed(effect)).collect();
        self.effects(server, effects);
        for agent in 0..self.agents.len() {
            self.claim(server, agent);
        }
    }

    /// Looked for from time to time, by all: whoever is first has it.
    pub(crate) fn look_for_run(&mut self, server: usize) {
        if self.driver().is_none() {
            self.take_up(server);
        }
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

    /// Another server takes the run while the one that has it still lives and knows nothing of it: it hung for longer than
    /// its lease. It may die later, or go on with its agents.
    pub(crate) fn takeover(&mut self) {
        let Some(old) = self.driver() else { return };
        let others: Vec<usize> =
            (0..self.servers.len()).filter(|idx| *idx != old && self.servers[*idx].is_alive).collect();
        if let Some(other) = self.dice.pick(&others).copied() {
            self.take_up(other);
        } else {
            self.server_starts();
            let newest = self.servers.len() - 1;
            self.take_up(newest);
        }
        if self.dice.one_in(2) {
            let dies_after_ms = self.dice.between(0, 60_000);
            self.after_ms(dies_after_ms, Happening::ServerDies(old));
        }
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
        match self.some_server() {
            Some(other) if self.driver().is_none() => {
                let after_ms = LEASE_MS + self.dice.between(0, 2000);
                self.after_ms(after_ms, Happening::TakeUp(other));
            }
            Some(_) => {}
            // Somebody restarts it when none is left.
            None => {
                let delay_ms = self.dice.between(100, 60_000);
                self.after_ms(delay_ms, Happening::ServerStarts);
            }
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

    pub(crate) fn take(&mut self, server: usize, input: Input) -> Kept {
        let Some((generation, run)) = &mut self.servers[server].drives else { return Kept::No };
        let generation = *generation;
        let decided = step(run, self.blueprint, input, self.now);
        let Step { events, effects } = decided.unwrap_or_default();
        if self.is_chaos() && self.dice.one_in(150) {
            self.server_crashes(server);
            return Kept::No;
        }
        if generation != self.generation && self.sabotage != Sabotage::NoFence {
            // Somebody else has the run: what was decided here never happened.
            self.servers[server].drives = None;
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
            let Some((generation, _)) = self.servers[server].drives else { return };
            if !self.servers[server].is_alive {
                return;
            }
            let generation = Generation(generation);
            match effect {
                Effect::Dispatch(key) => {
                    self.tell_host(server, self.executor(key), SessionInput::Dispatch { key, generation });
                }
                Effect::Cancel { key, how } => {
                    self.tell_host(server, self.executor(key), SessionInput::Cancel { key, generation, how });
                }
                Effect::WakeAt(at) => self.at(at, Happening::RunWakes(server)),
                Effect::RunEnded(_) => {
                    for agent in 0..self.agents.len() {
                        self.tell_host(server, agent, SessionInput::RunIs { run: RUN, generation: None });
                    }
                }
                Effect::Succeeded { .. } | Effect::NodeEnded { .. } => {}
            }
        }
    }

    pub(crate) fn executor(&self, key: AttemptKey) -> usize {
        self.blueprint.executor_of(key.instance).map_or(0, |node| node as usize)
    }

    /// Says everything that is in flight with an agent.
    pub(crate) fn claim(&mut self, server: usize, agent: usize) {
        let Some((generation, run)) = &self.servers[server].drives else { return };
        if !self.servers[server].is_alive {
            return;
        }
        let generation = Generation(*generation);
        let flights = run.in_flight().filter(|flight| self.executor(flight.key) == agent);
        let flights: Vec<InFlight> = flights.collect();
        match self.host_of(agent) {
            Some(host) if host != server => {
                self.write_to(host, Letter::Claim { agent, generation, flights });
            }
            _ => {
                let outputs = self.servers[server].sessions[agent].claim(RUN, generation, &flights, self.now);
                self.session_outputs(server, agent, outputs);
            }
        }
    }

    /// What is done every few seconds, because letters are lost.
    pub(crate) fn again(&mut self, server: usize) {
        if !self.servers[server].is_alive {
            return;
        }
        self.after_ms(AGAIN_MS, Happening::Again(server));
        if let Some((_, run)) = &self.servers[server].drives {
            let is_unheard = |flight: &InFlight| !flight.is_started || flight.cancel.is_some();
            let mut agents: Vec<usize> =
                run.in_flight().filter(is_unheard).map(|flight| self.executor(flight.key)).collect();
            agents.dedup();
            for agent in agents {
                if self.host_of(agent).is_some_and(|host| host != server) {
                    self.claim(server, agent);
                }
            }
        }
        if self.sabotage == Sabotage::MuteHost {
            return;
        }
        for agent in 0..self.agents.len() {
            let owed = self.servers[server].sessions[agent].owed(self.now);
            self.session_outputs(server, agent, owed.into_iter().map(Output::Finished).collect());
        }
    }

    pub(crate) fn session(&mut self, server: usize, agent: usize, input: SessionInput) {
        let outputs = self.servers[server].sessions[agent].step(input, self.now);
        self.session_outputs(server, agent, outputs);
    }

    pub(crate) fn session_outputs(&mut self, server: usize, agent: usize, outputs: Vec<Output>) {
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
                Output::Deliver { key, .. } => {
                    self.tell_driver(server, Letter::Deliver { host: server, agent, key });
                }
                Output::Started { key, at } => self.tell_driver(server, Letter::Started { key, at }),
                Output::Finished(finished) => {
                    if self.sabotage == Sabotage::EarlyAcknowledgement {
                        let keys = vec![finished.key];
                        self.session(server, agent, SessionInput::Recorded { keys });
                    }
                    self.tell_driver(server, Letter::Finished { host: server, agent, finished });
                }
                Output::Lost => {
                    self.run_input(server, Input::NodeLost { node: agent as u32 });
                }
                Output::Back => self.announce(server, agent),
                Output::Disconnect => {
                    if let Some(connection) = connection {
                        self.break_connection(connection);
                    }
                }
                // Whoever has the run claims what is in flight; whether it is over is in the store.
                Output::AskRuns { runs } => {
                    if self.truth.has_ended() {
                        for run in runs {
                            self.session(server, agent, SessionInput::RunIs { run, generation: None });
                        }
                    }
                }
                Output::WakeAt(at) => self.at(at, Happening::SessionWakes(server, agent)),
                Output::Printed { .. } | Output::Facts(_) => {}
            }
        }
    }

    /// Puts an attempt together and sends it.
    pub(crate) fn start(&mut self, server: usize, agent: usize, key: AttemptKey, generation: Generation) {
        if let Some(connection) = self.servers[server].connections[agent] {
            let attempt = self.attempt(key, generation);
            self.servers[server].sessions[agent].sent(key);
            self.send_to_agent(connection, ToAgent::Start(attempt));
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
            trace: None,
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
        if !self.servers[server].is_alive || is_sync {
            return;
        }
        if self.host_of(agent).is_some_and(|host| host != server) {
            // Whoever has it watches over it.
            self.begin_anew(server, agent);
        } else {
            self.session(server, agent, SessionInput::Wake);
        }
    }

    /// What is remembered of an agent that is with another server does not count.
    pub(crate) fn begin_anew(&mut self, server: usize, agent: usize) {
        let (session, outputs) = HostSession::new(Settings::default(), self.now);
        self.servers[server].sessions[agent] = session;
        self.session_outputs(server, agent, outputs);
    }
}
