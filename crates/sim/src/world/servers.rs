//! Simulated servers: the real run and session machines, and a store with atomic commits.
//!
//! One server drives the run, or assumes so; an agent may be connected to any of them. `peer_messages.rs`
//! contains the messages between servers.

use std::error::Error;

use stoker_engine::run::{EngineEvent, Input, RunEffect, RunMachine, StepResult, step};
use stoker_engine::session::InFlight;
use stoker_engine::session::host::HostSession;
use stoker_engine::session::server::{Input as SessionInput, Output, SessionSettings};
use stoker_engine::session::{Attempt, AttemptKey, FromAgent, Generation, Mode, ToAgent};
use stoker_model::{Json, NodeIdx};

use super::peer_messages::PeerMessage;
use super::{ConnectionId, Sabotage, SimEvent, World};
use crate::oracle::RUN;

/// Lease duration: a free server takes over a run without a driver after this time and a little more.
const LEASE_MS: u64 = 8000;
/// Interval at which a driver repeats its claims and a host resends unrecorded results.
const RESEND_MS: u64 = 2000;

pub(crate) struct Server {
    pub(crate) is_alive: bool,
    /// The run and the lease generation with which it was acquired; `None` if this server never had the lease
    /// or lost it.
    pub(crate) drives: Option<(u64, RunMachine)>,
    /// One session per agent.
    pub(crate) sessions: Vec<HostSession>,
    pub(crate) connections: Vec<Option<ConnectionId>>,
}

/// Outcome of a commit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommitResult {
    Committed,
    Rejected,
}

impl World<'_> {
    /// Returns the live server that holds the current generation of the run.
    pub(crate) fn driver(&self) -> Option<usize> {
        let is_driver = |server: &Server| {
            server.drives.as_ref().is_some_and(|(generation, _)| *generation == self.generation)
        };
        self.servers.iter().position(|server| server.is_alive && is_driver(server))
    }

    pub(crate) fn some_server(&mut self) -> Option<usize> {
        let alive: Vec<usize> = (0..self.servers.len()).filter(|idx| self.servers[*idx].is_alive).collect();
        self.rng.pick(&alive).copied()
    }

    /// Starts another server, which takes over the run if it has no driver.
    pub(crate) fn start_server(&mut self) {
        let (mut sessions, mut outputs) = (Vec::new(), Vec::new());
        for _ in &self.agents {
            let (session, first) = HostSession::new(SessionSettings::default(), self.now);
            sessions.push(session);
            outputs.push(first);
        }
        let connections = vec![None; self.agents.len()];
        self.servers.push(Server { is_alive: true, drives: None, sessions, connections });
        let server = self.servers.len() - 1;
        for (agent, outputs) in outputs.into_iter().enumerate() {
            self.session_outputs(server, agent, outputs);
        }
        self.after_ms(RESEND_MS, SimEvent::Resend(server));
        if self.driver().is_none() {
            self.take_over_run(server);
        }
    }

    /// Takes over the run, regardless of its current driver.
    pub(crate) fn take_over_run(&mut self, server: usize) {
        if !self.servers[server].is_alive {
            return;
        }
        self.generation += 1;
        let run = match self.read_history() {
            Ok(run) => run,
            Err(error) => {
                self.oracle.violations.push(error.to_string());
                return;
            }
        };
        self.servers[server].drives = Some((self.generation, run));
        let is_first = self.history.is_empty();
        self.run_input(server, if is_first { Input::Begin } else { Input::TakeOver });
        let Some((_, run)) = self.servers[server].drives.as_ref().filter(|_| !is_first) else { return };
        let is_claimed =
            |effect: &RunEffect| matches!(effect, RunEffect::Dispatch(_) | RunEffect::Cancel { .. });
        let effects = run.effects().into_iter().filter(|effect| !is_claimed(effect)).collect();
        self.effects(server, effects);
        for agent in 0..self.agents.len() {
            self.claim(server, agent);
        }
    }

    /// Takes over the run if it has no driver.
    pub(crate) fn take_over_if_free(&mut self, server: usize) {
        if self.driver().is_none() {
            self.take_over_run(server);
        }
    }

    /// Restores the run from the serialized events in the store.
    fn read_history(&self) -> Result<RunMachine, Box<dyn Error>> {
        let read = |event: &EngineEvent| -> Result<EngineEvent, Box<dyn Error>> {
            let json: Json = event.to_json().to_string().parse()?;
            Ok(EngineEvent::from_json(&json)?)
        };
        let events: Vec<EngineEvent> = self.history.iter().map(read).collect::<Result<_, _>>()?;
        Ok(RunMachine::restore(RUN, self.blueprint, &events)?)
    }

    /// Lets another server take over although the driver is alive: the driver hung for longer than its lease
    /// and has not noticed. It may die later, or continue to serve its agents.
    pub(crate) fn takeover(&mut self) {
        let Some(old) = self.driver() else { return };
        let others: Vec<usize> =
            (0..self.servers.len()).filter(|idx| *idx != old && self.servers[*idx].is_alive).collect();
        if let Some(other) = self.rng.pick(&others).copied() {
            self.take_over_run(other);
        } else {
            self.start_server();
            let newest = self.servers.len() - 1;
            self.take_over_run(newest);
        }
        if self.rng.one_in(2) {
            let dies_after_ms = self.rng.between(0, 60_000);
            self.after_ms(dies_after_ms, SimEvent::ServerDies(old));
        }
    }

    /// Kills the server and breaks its connections.
    pub(crate) fn kill_server(&mut self, server: usize) {
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
                let after_ms = LEASE_MS + self.rng.between(0, 2000);
                self.after_ms(after_ms, SimEvent::TakeOverRun(other));
            }
            Some(_) => {}
            // If no server is left, one is restarted later.
            None => {
                let delay_ms = self.rng.between(100, 60_000);
                self.after_ms(delay_ms, SimEvent::ServerStarts);
            }
        }
    }

    pub(crate) fn crash_server(&mut self, server: usize) {
        self.n_server_crashes += 1;
        self.kill_server(server);
    }

    /// Gives an input to the run of a server, commits the events and executes the effects. Returns whether
    /// the commit succeeded.
    pub(crate) fn run_input(&mut self, server: usize, input: Input) -> bool {
        self.servers[server].is_alive && self.step_and_commit(server, input) == CommitResult::Committed
    }

    pub(crate) fn step_and_commit(&mut self, server: usize, input: Input) -> CommitResult {
        let Some((generation, run)) = &mut self.servers[server].drives else { return CommitResult::Rejected };
        let generation = *generation;
        let result = step(run, self.blueprint, input, self.now);
        let StepResult { events, effects } = result.unwrap_or_default();
        if self.is_chaos() && self.rng.one_in(150) {
            self.crash_server(server);
            return CommitResult::Rejected;
        }
        if generation != self.generation && self.sabotage != Sabotage::NoFence {
            // Fencing: another server holds the lease of the run, so the step is discarded.
            self.servers[server].drives = None;
            return CommitResult::Rejected;
        }
        for event in &events {
            self.log(|| format!("             committed by server {server}: {:?}", event.kind));
        }
        self.oracle.committed(&events);
        self.history.extend(events);
        if self.is_chaos() && self.rng.one_in(150) {
            self.crash_server(server);
            return CommitResult::Committed;
        }
        self.effects(server, effects);
        CommitResult::Committed
    }

    fn effects(&mut self, server: usize, effects: Vec<RunEffect>) {
        for effect in effects {
            let Some((generation, _)) = self.servers[server].drives else { return };
            if !self.servers[server].is_alive {
                return;
            }
            let generation = Generation(generation);
            match effect {
                RunEffect::Dispatch(key) => {
                    self.send_to_host(server, self.executor(key), SessionInput::Dispatch { key, generation });
                }
                RunEffect::Cancel { key, how } => {
                    self.send_to_host(
                        server,
                        self.executor(key),
                        SessionInput::Cancel { key, generation, how },
                    );
                }
                RunEffect::WakeAt(at) => self.at(at, SimEvent::RunWakes(server)),
                RunEffect::RunEnded(_) => {
                    for agent in 0..self.agents.len() {
                        self.send_to_host(
                            server,
                            agent,
                            SessionInput::RunStatus { run: RUN, generation: None },
                        );
                    }
                }
                RunEffect::Succeeded { .. } | RunEffect::Triggered { .. } | RunEffect::NodeEnded { .. } => {}
            }
        }
    }

    pub(crate) fn executor(&self, key: AttemptKey) -> usize {
        self.blueprint.executor_of(key.instance).map_or(0, stoker_model::NodeIdx::index)
    }

    /// Claims all attempts in flight with an agent.
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
                self.send_to_peer(host, PeerMessage::Claim { agent, generation, flights });
            }
            _ => {
                let outputs = self.servers[server].sessions[agent].claim(RUN, generation, &flights, self.now);
                self.session_outputs(server, agent, outputs);
            }
        }
    }

    /// Resends periodically, because messages between servers may be lost.
    pub(crate) fn resend(&mut self, server: usize) {
        if !self.servers[server].is_alive {
            return;
        }
        self.after_ms(RESEND_MS, SimEvent::Resend(server));
        if let Some((_, run)) = &self.servers[server].drives {
            let is_unconfirmed = |flight: &InFlight| !flight.is_started || flight.cancel.is_some();
            let mut agents: Vec<usize> =
                run.in_flight().filter(is_unconfirmed).map(|flight| self.executor(flight.key)).collect();
            agents.dedup();
            for agent in agents {
                if self.host_of(agent).is_some_and(|host| host != server) {
                    self.claim(server, agent);
                }
            }
        }
        if self.sabotage == Sabotage::NoResend {
            return;
        }
        for agent in 0..self.agents.len() {
            let owed = self.servers[server].sessions[agent].unrecorded_results(self.now);
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
                    self.send_to_driver(server, PeerMessage::Deliver { host: server, agent, key });
                }
                Output::Started { key, at } => self.send_to_driver(server, PeerMessage::Started { key, at }),
                Output::Finished(finished) => {
                    if self.sabotage == Sabotage::EarlyAck {
                        let keys = vec![finished.key];
                        self.session(server, agent, SessionInput::Recorded { keys });
                    }
                    self.send_to_driver(server, PeerMessage::Finished { host: server, agent, finished });
                }
                Output::Lost => {
                    self.run_input(server, Input::NodeLost { node: NodeIdx::at(agent) });
                }
                Output::Connected => self.announce(server, agent),
                Output::Disconnect => {
                    if let Some(connection) = connection {
                        self.break_connection(connection);
                    }
                }
                // The driver claims its attempts; the store records whether a run is over.
                Output::QueryRuns { runs } => {
                    if self.oracle.has_ended() {
                        for run in runs {
                            self.session(server, agent, SessionInput::RunStatus { run, generation: None });
                        }
                    }
                }
                Output::WakeAt(at) => self.at(at, SimEvent::SessionWakes(server, agent)),
                Output::AttemptOutput { .. } | Output::Facts(_) | Output::Checked(_) => {}
            }
        }
    }

    /// Builds an attempt and sends it.
    pub(crate) fn start(&mut self, server: usize, agent: usize, key: AttemptKey, generation: Generation) {
        if let Some(connection) = self.servers[server].connections[agent] {
            let attempt = self.attempt(key, generation);
            self.servers[server].sessions[agent].mark_sent(key);
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
        // The sync node has no agent, so it cannot be lost.
        let is_sync = self.blueprint.node(NodeIdx::at(agent)) == Some("sync");
        if !self.servers[server].is_alive || is_sync {
            return;
        }
        if self.host_of(agent).is_some_and(|host| host != server) {
            // The host of the agent monitors its liveness.
            self.reset_session(server, agent);
        } else {
            self.session(server, agent, SessionInput::Wake);
        }
    }

    /// Resets the session with an agent that is connected to another server.
    pub(crate) fn reset_session(&mut self, server: usize, agent: usize) {
        let (session, outputs) = HostSession::new(SessionSettings::default(), self.now);
        self.servers[server].sessions[agent] = session;
        self.session_outputs(server, agent, outputs);
    }
}
