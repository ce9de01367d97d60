//! Virtual time, event queue and fault injection.

mod agents;
mod network;
mod peer_messages;
mod servers;

use std::collections::BTreeMap;

use stoker_engine::blueprint::{Blueprint, Draft};
use stoker_engine::run::{EngineEvent, Input, RunMachine, StopMode};
use stoker_engine::session::{AttemptKey, FromAgent, ResultKind, ToAgent};
use stoker_model::Micros;

use crate::graph::random_draft;
use crate::oracle::{Oracle, RUN, Violation};
use crate::rng::Rng;
use agents::Agent;
use peer_messages::PeerMessage;
use servers::Server;

/// A defect that is injected on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sabotage {
    None,
    /// An agent restarts with an empty journal.
    LostJournal,
    /// A server acknowledges a result before it is committed.
    EarlyAck,
    /// A server that lost the run lease continues to commit.
    NoFence,
    /// An agent starts an attempt before its acceptance is on disk.
    EarlyStart,
    /// An agent starts an attempt when its acceptance is written but not fsynced.
    UnsyncedAcceptance,
    /// The host of an agent does not resend results.
    NoResend,
}

/// Result of a simulation.
#[derive(Clone, Debug)]
pub struct SimReport {
    /// All events in order, if logging was requested.
    pub log: Vec<String>,
    pub n_steps: usize,
    pub n_events: usize,
    pub n_executions: usize,
    pub n_server_crashes: usize,
    pub n_agent_crashes: usize,
    /// Violated invariants.
    pub violations: Vec<Violation>,
}

pub(crate) type ConnectionId = usize;

#[derive(Clone, Debug)]
pub(crate) enum SimEvent {
    /// A message arrives at a server, if the connection is still open.
    AtServer(ConnectionId, FromAgent),
    /// A message arrives at an agent. A duplicate may outlive its connection, but not the agent's
    /// incarnation.
    AtAgent {
        connection: ConnectionId,
        message: ToAgent,
        is_repeated: bool,
        incarnation: u32,
    },
    Connect(usize),
    Break(usize),
    Heartbeat(usize, ConnectionId),
    Written {
        agent: usize,
        incarnation: u32,
        seq: u64,
    },
    ProcessEnds {
        agent: usize,
        key: AttemptKey,
        end: ResultKind,
    },
    AgentCrashes(usize),
    PowerLoss(usize),
    AgentStarts(usize),
    DiskFull(usize, bool),
    RunWakes(usize),
    SessionWakes(usize, usize),
    ServerCrashes,
    ServerStarts,
    Takeover,
    /// A server checks whether the run has no driver.
    TakeOverRun(usize),
    ServerDies(usize),
    /// A message from another server arrives.
    PeerMessage(usize, PeerMessage),
    /// A server is notified that another server hosts an agent.
    AgentMoved(usize, usize),
    /// A server resends messages that may have been lost.
    Resend(usize),
    Command(Input),
}

pub(crate) struct Connection {
    pub(crate) agent: usize,
    pub(crate) server: usize,
    pub(crate) is_open: bool,
    /// Arrival time of the last message in each direction: messages do not overtake each other.
    pub(crate) last_to_agent: Micros,
    pub(crate) last_to_server: Micros,
}

pub(crate) struct World<'w> {
    pub(crate) rng: Rng,
    pub(crate) now: Micros,
    pub(crate) blueprint: &'w Blueprint,
    pub(crate) oracle: Oracle,
    pub(crate) sabotage: Sabotage,
    queue: BTreeMap<(Micros, u64), SimEvent>,
    n_queued: u64,
    /// The store: its contents survive all faults.
    pub(crate) history: Vec<EngineEvent>,
    pub(crate) generation: u64,
    pub(crate) servers: Vec<Server>,
    pub(crate) agents: Vec<Agent>,
    pub(crate) connections: Vec<Connection>,
    /// Faults are injected until then.
    pub(crate) chaos_until: Micros,
    pub(crate) n_server_crashes: usize,
    pub(crate) n_agent_crashes: usize,
    pub(crate) n_executions: usize,
    log: Option<Vec<String>>,
}

/// Simulates one seed.
pub fn simulate(seed: u64, sabotage: Sabotage) -> SimReport {
    let mut rng = Rng::new(seed);
    let draft = random_draft(&mut rng);
    simulate_draft(rng, &draft, sabotage, false)
}

/// Simulates one seed and logs every event.
pub fn simulate_logged(seed: u64) -> SimReport {
    let mut rng = Rng::new(seed);
    let draft = random_draft(&mut rng);
    simulate_draft(rng, &draft, Sabotage::None, true)
}

/// Simulates a given draft with faults chosen by `rng`.
pub fn simulate_draft(mut rng: Rng, draft: &Draft, sabotage: Sabotage, has_log: bool) -> SimReport {
    let blueprint = match Blueprint::new(draft.clone()) {
        Ok(blueprint) => blueprint,
        Err(defects) => {
            let violations = defects.iter().map(ToString::to_string).collect();
            return SimReport { violations, ..SimReport::empty() };
        }
    };
    let chaos_until = Micros(if rng.one_in(5) { 0 } else { seconds(rng.between(10, 400)) });
    let mut world = World {
        now: Micros(0),
        oracle: Oracle::new(draft.clone()),
        blueprint: &blueprint,
        sabotage,
        queue: BTreeMap::new(),
        n_queued: 0,
        history: Vec::new(),
        generation: 0,
        servers: Vec::new(),
        agents: draft.nodes.iter().map(|uid| Agent::new(uid)).collect(),
        connections: Vec::new(),
        chaos_until,
        n_server_crashes: 0,
        n_agent_crashes: 0,
        n_executions: 0,
        log: has_log.then(Vec::new),
        rng,
    };
    world.log(|| format!("{draft:#?}"));
    world.run_to_end()
}

impl SimReport {
    fn empty() -> Self {
        let (log, violations) = (Vec::new(), Vec::new());
        Self {
            log,
            n_steps: 0,
            n_events: 0,
            n_executions: 0,
            n_server_crashes: 0,
            n_agent_crashes: 0,
            violations,
        }
    }
}

pub(crate) fn seconds(n: u64) -> i64 {
    n as i64 * Micros::SECOND
}

const STEPS_MAX: usize = 200_000;
/// Maximum virtual duration in seconds, far beyond every timeout; a longer run does not terminate.
const DURATION_MAX_S: u64 = 200_000;

impl World<'_> {
    fn run_to_end(&mut self) -> SimReport {
        self.prepare();
        let mut n_steps = 0;
        while let Some(((at, _), event)) = self.queue.pop_first() {
            self.now = at;
            n_steps += 1;
            self.log(|| format!("{:>12} {event:?}", at.0));
            if n_steps > STEPS_MAX || at.0 > seconds(DURATION_MAX_S) {
                self.oracle
                    .violations
                    .push(format!("the run does not end ({n_steps} steps, {} s)", at.0 / Micros::SECOND));
                break;
            }
            self.handle_event(event);
            if self.is_settled() {
                self.check_end();
                break;
            }
            if !self.oracle.violations.is_empty() {
                break;
            }
        }
        SimReport {
            log: std::mem::take(&mut self.log).unwrap_or_default(),
            n_steps,
            n_events: self.oracle.n_events,
            n_executions: self.n_executions,
            n_server_crashes: self.n_server_crashes,
            n_agent_crashes: self.n_agent_crashes,
            violations: std::mem::take(&mut self.oracle.violations),
        }
    }

    /// Appends to the log, if logging was requested.
    pub(crate) fn log(&mut self, message: impl FnOnce() -> String) {
        if let Some(log) = &mut self.log {
            log.push(message());
        }
    }

    fn prepare(&mut self) {
        self.after_ms(0, SimEvent::ServerStarts);
        for _ in 0..self.rng.below(3) {
            let delay_ms = self.rng.between(0, 30_000);
            self.after_ms(delay_ms, SimEvent::ServerStarts);
        }
        for agent in 0..self.agents.len() {
            let delay_ms =
                if self.rng.one_in(10) { self.rng.between(0, 200_000) } else { self.rng.between(0, 500) };
            self.after_ms(delay_ms, SimEvent::AgentStarts(agent));
        }
        let span_ms = (self.chaos_until.0 / 1000) as u64;
        if span_ms == 0 {
            return;
        }
        let n_agents = self.agents.len() as u64;
        for _ in 0..self.rng.below(8) {
            let agent = self.rng.below(n_agents) as usize;
            let event = match self.rng.below(10) {
                0 => SimEvent::ServerCrashes,
                1 => SimEvent::Takeover,
                2 | 3 => SimEvent::AgentCrashes(agent),
                4 | 5 => SimEvent::Break(agent),
                6 => SimEvent::DiskFull(agent, true),
                7 | 8 => SimEvent::PowerLoss(agent),
                _ => SimEvent::Command(self.command()),
            };
            let at_ms = self.rng.below(span_ms);
            self.after_ms(at_ms, event);
        }
        // A paused run is resumed eventually.
        self.after_ms(span_ms, SimEvent::Command(Input::Resume));
        for agent in 0..self.agents.len() {
            self.after_ms(span_ms, SimEvent::DiskFull(agent, false));
        }
    }

    fn command(&mut self) -> Input {
        match self.rng.below(5) {
            0 => Input::Stop { how: StopMode::Graceful },
            1 => Input::Stop { how: StopMode::Now },
            _ => Input::Pause,
        }
    }

    pub(crate) fn is_chaos(&self) -> bool {
        self.now < self.chaos_until
    }

    pub(crate) fn after_ms(&mut self, ms: u64, event: SimEvent) {
        let at = Micros(self.now.0 + ms as i64 * 1000);
        self.at(at, event);
    }

    pub(crate) fn at(&mut self, at: Micros, event: SimEvent) {
        self.n_queued += 1;
        self.queue.insert((at.max(self.now), self.n_queued), event);
    }

    fn handle_event(&mut self, event: SimEvent) {
        match event {
            SimEvent::AtServer(connection, message) => self.arrives_at_server(connection, message),
            SimEvent::AtAgent { connection, message, is_repeated, incarnation } => {
                if self.agents[self.connections[connection].agent].incarnation == incarnation {
                    self.arrives_at_agent(connection, message, is_repeated);
                }
            }
            SimEvent::Connect(agent) => self.connect(agent),
            SimEvent::Break(agent) => {
                if let Some(connection) = self.agents[agent].connection {
                    self.break_connection(connection);
                }
            }
            SimEvent::Heartbeat(agent, connection) => self.heartbeat(agent, connection),
            SimEvent::Written { agent, incarnation, seq } => self.complete_writes(agent, incarnation, seq),
            SimEvent::ProcessEnds { agent, key, end } => self.end_process(agent, key, end),
            SimEvent::AgentCrashes(agent) => self.crash_agent(agent),
            SimEvent::PowerLoss(agent) => self.lose_power(agent),
            SimEvent::AgentStarts(agent) => self.start_agent(agent),
            SimEvent::DiskFull(agent, is_full) => self.agents[agent].is_disk_full = is_full,
            SimEvent::RunWakes(server) => {
                self.run_input(server, Input::Wake);
            }
            SimEvent::SessionWakes(server, agent) => self.session_wakes(server, agent),
            SimEvent::ServerCrashes => {
                if let Some(server) = self.some_server() {
                    self.crash_server(server);
                }
            }
            SimEvent::ServerStarts => self.start_server(),
            SimEvent::Takeover => self.takeover(),
            SimEvent::TakeOverRun(server) => self.take_over_if_free(server),
            SimEvent::ServerDies(server) => self.kill_server(server),
            SimEvent::PeerMessage(server, message) => self.handle_peer_message(server, message),
            SimEvent::AgentMoved(server, agent) => self.agent_moved(server, agent),
            SimEvent::Resend(server) => self.resend(server),
            SimEvent::Command(input) => {
                let is_committed = self.driver().is_some_and(|server| self.run_input(server, input.clone()));
                // Retry the resume, or the run would stay paused.
                if !is_committed && input == Input::Resume {
                    self.after_ms(1000, SimEvent::Command(input));
                }
            }
        }
    }

    // Final checks.

    fn is_settled(&self) -> bool {
        self.oracle.has_ended()
            && !self.is_chaos()
            && self.agents.iter().all(Agent::is_idle)
            && self.driver().is_some()
    }

    fn check_end(&mut self) {
        let restored = RunMachine::restore(RUN, self.blueprint, &self.history);
        let is_same = self.driver().is_some_and(|server| {
            self.servers[server].drives.as_ref().is_some_and(|(_, run)| restored.as_ref() == Ok(run))
        });
        if !is_same {
            self.oracle
                .violations
                .push("the state of the run differs from the fold of its history".to_owned());
        }
        self.oracle.settle(self.blueprint);
    }
}
