//! Time, the network, and what goes wrong.

use std::collections::BTreeMap;

use stoker_engine::blueprint::{Blueprint, Draft};
use stoker_engine::run::{Event, Input, Run, StopHow};
use stoker_engine::session::{AttemptKey, End, FromAgent, ToAgent};
use stoker_model::{Micros, RunId};

use crate::agents::Agent;
use crate::dice::Dice;
use crate::graph::random_draft;
use crate::letters::Letter;
use crate::servers::Server;
use crate::truth::{Broken, Truth};

pub(crate) const RUN: RunId = RunId(1);

/// A part that is broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sabotage {
    None,
    /// An agent starts again with an empty journal.
    ForgottenJournal,
    /// A server acknowledges an end before it is safe.
    EarlyAcknowledgement,
    /// A server that lost the run goes on writing history.
    NoFence,
    /// An agent begins before its promise is on disk.
    EarlyStart,
    /// An agent begins when its promise is written, but not safe from a loss of power.
    UnsafePromise,
    /// A server that has an agent tells each end only once.
    MuteHost,
}

/// How it went.
#[derive(Clone, Debug)]
pub struct Story {
    /// Everything in its order, if that was asked for.
    pub log: Vec<String>,
    pub n_steps: usize,
    pub n_events: usize,
    pub n_executions: usize,
    pub n_server_crashes: usize,
    pub n_agent_crashes: usize,
    /// What must not have happened.
    pub broken: Vec<Broken>,
}

pub(crate) type ConnectionId = usize;

#[derive(Clone, Debug)]
pub(crate) enum Happening {
    /// A message arrives at a server, if the connection still stands.
    AtServer(ConnectionId, FromAgent),
    /// A message arrives at an agent; one that comes twice may outlive its connection, but not the agent.
    AtAgent {
        connection: ConnectionId,
        message: ToAgent,
        is_repeated: bool,
        life: u32,
    },
    Connect(usize),
    Break(usize),
    Heartbeat(usize, ConnectionId),
    Written {
        agent: usize,
        life: u32,
        seq: u64,
    },
    ProcessEnds {
        agent: usize,
        key: AttemptKey,
        end: End,
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
    /// Somebody looks for a run that nobody carries out.
    TakeUp(usize),
    ServerDies(usize),
    /// A letter arrives at a server.
    Letter(usize, Letter),
    /// A server hears that another has an agent.
    Placed(usize, usize),
    /// A server says again what may have been lost.
    Again(usize),
    Command(Input),
}

pub(crate) struct Connection {
    pub(crate) agent: usize,
    pub(crate) server: usize,
    pub(crate) is_open: bool,
    /// When the last message in each direction arrives: none overtakes another.
    pub(crate) last_to_agent: Micros,
    pub(crate) last_to_server: Micros,
}

pub(crate) struct World<'w> {
    pub(crate) dice: Dice,
    pub(crate) now: Micros,
    pub(crate) blueprint: &'w Blueprint,
    pub(crate) truth: Truth,
    pub(crate) sabotage: Sabotage,
    queue: BTreeMap<(Micros, u64), Happening>,
    n_queued: u64,
    /// The store: what is in it survives everything.
    pub(crate) history: Vec<Event>,
    pub(crate) generation: u64,
    pub(crate) servers: Vec<Server>,
    pub(crate) agents: Vec<Agent>,
    pub(crate) connections: Vec<Connection>,
    /// Until then things go wrong.
    pub(crate) chaos_until: Micros,
    pub(crate) n_server_crashes: usize,
    pub(crate) n_agent_crashes: usize,
    pub(crate) n_executions: usize,
    log: Option<Vec<String>>,
}

/// One seed, from the beginning to the end.
pub fn simulate(seed: u64, sabotage: Sabotage) -> Story {
    let mut dice = Dice::new(seed);
    let draft = random_draft(&mut dice);
    simulate_draft(dice, &draft, sabotage, false)
}

/// The same, with everything written down.
pub fn tell(seed: u64) -> Story {
    let mut dice = Dice::new(seed);
    let draft = random_draft(&mut dice);
    simulate_draft(dice, &draft, Sabotage::None, true)
}

/// A given draft, with faults by the dice.
pub fn simulate_draft(mut dice: Dice, draft: &Draft, sabotage: Sabotage, is_told: bool) -> Story {
    let blueprint = match Blueprint::new(draft.clone()) {
        Ok(blueprint) => blueprint,
        Err(defects) => {
            let broken = defects.iter().map(ToString::to_string).collect();
            return Story { broken, ..Story::empty() };
        }
    };
    let chaos_until = Micros(if dice.one_in(5) { 0 } else { seconds(dice.between(10, 400)) });
    let mut world = World {
        now: Micros(0),
        truth: Truth::new(draft.clone()),
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
        log: is_told.then(Vec::new),
        dice,
    };
    world.say(|| format!("{draft:#?}"));
    world.play()
}

impl Story {
    fn empty() -> Self {
        let (log, broken) = (Vec::new(), Vec::new());
        Self {
            log,
            n_steps: 0,
            n_events: 0,
            n_executions: 0,
            n_server_crashes: 0,
            n_agent_crashes: 0,
            broken,
        }
    }
}

pub(crate) fn seconds(n: u64) -> i64 {
    n as i64 * Micros::SECOND
}

const STEPS_MAX: usize = 200_000;
/// Long after every timeout there is.
const LAST_MAX_S: u64 = 200_000;

impl World<'_> {
    fn play(&mut self) -> Story {
        self.prepare();
        let mut n_steps = 0;
        while let Some(((at, _), happening)) = self.queue.pop_first() {
            self.now = at;
            n_steps += 1;
            self.say(|| format!("{:>12} {happening:?}", at.0));
            if n_steps > STEPS_MAX || at.0 > seconds(LAST_MAX_S) {
                self.truth
                    .broken
                    .push(format!("the run does not end ({n_steps} steps, {} s)", at.0 / Micros::SECOND));
                break;
            }
            self.happen(happening);
            if self.is_settled() {
                self.check_end();
                break;
            }
            if !self.truth.broken.is_empty() {
                break;
            }
        }
        Story {
            log: std::mem::take(&mut self.log).unwrap_or_default(),
            n_steps,
            n_events: self.truth.n_events,
            n_executions: self.n_executions,
            n_server_crashes: self.n_server_crashes,
            n_agent_crashes: self.n_agent_crashes,
            broken: std::mem::take(&mut self.truth.broken),
        }
    }

    /// For the log, if there is one.
    pub(crate) fn say(&mut self, what: impl FnOnce() -> String) {
        if let Some(log) = &mut self.log {
            log.push(what());
        }
    }

    fn prepare(&mut self) {
        self.after_ms(0, Happening::ServerStarts);
        for _ in 0..self.dice.below(3) {
            let delay_ms = self.dice.between(0, 30_000);
            self.after_ms(delay_ms, Happening::ServerStarts);
        }
        for agent in 0..self.agents.len() {
            let delay_ms =
                if self.dice.one_in(10) { self.dice.between(0, 200_000) } else { self.dice.between(0, 500) };
            self.after_ms(delay_ms, Happening::AgentStarts(agent));
        }
        let span_ms = (self.chaos_until.0 / 1000) as u64;
        if span_ms == 0 {
            return;
        }
        let n_agents = self.agents.len() as u64;
        for _ in 0..self.dice.below(8) {
            let agent = self.dice.below(n_agents) as usize;
            let what = match self.dice.below(10) {
                0 => Happening::ServerCrashes,
                1 => Happening::Takeover,
                2 | 3 => Happening::AgentCrashes(agent),
                4 | 5 => Happening::Break(agent),
                6 => Happening::DiskFull(agent, true),
                7 | 8 => Happening::PowerLoss(agent),
                _ => Happening::Command(self.command()),
            };
            let at_ms = self.dice.below(span_ms);
            self.after_ms(at_ms, what);
        }
        // A paused run goes on some time.
        self.after_ms(span_ms, Happening::Command(Input::Resume));
        for agent in 0..self.agents.len() {
            self.after_ms(span_ms, Happening::DiskFull(agent, false));
        }
    }

    fn command(&mut self) -> Input {
        match self.dice.below(5) {
            0 => Input::Stop { how: StopHow::Graceful },
            1 => Input::Stop { how: StopHow::Now },
            _ => Input::Pause,
        }
    }

    pub(crate) fn is_chaos(&self) -> bool {
        self.now < self.chaos_until
    }

    pub(crate) fn after_ms(&mut self, ms: u64, what: Happening) {
        let at = Micros(self.now.0 + ms as i64 * 1000);
        self.at(at, what);
    }

    pub(crate) fn at(&mut self, at: Micros, what: Happening) {
        self.n_queued += 1;
        self.queue.insert((at.max(self.now), self.n_queued), what);
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::AtServer(connection, message) => self.arrives_at_server(connection, message),
            Happening::AtAgent { connection, message, is_repeated, life } => {
                if self.agents[self.connections[connection].agent].life == life {
                    self.arrives_at_agent(connection, message, is_repeated);
                }
            }
            Happening::Connect(agent) => self.connect(agent),
            Happening::Break(agent) => {
                if let Some(connection) = self.agents[agent].connection {
                    self.break_connection(connection);
                }
            }
            Happening::Heartbeat(agent, connection) => self.heartbeat(agent, connection),
            Happening::Written { agent, life, seq } => self.written(agent, life, seq),
            Happening::ProcessEnds { agent, key, end } => self.process_ends(agent, key, end),
            Happening::AgentCrashes(agent) => self.agent_crashes(agent),
            Happening::PowerLoss(agent) => self.power_is_lost(agent),
            Happening::AgentStarts(agent) => self.agent_starts(agent),
            Happening::DiskFull(agent, is_full) => self.agents[agent].is_disk_full = is_full,
            Happening::RunWakes(server) => {
                self.run_input(server, Input::Wake);
            }
            Happening::SessionWakes(server, agent) => self.session_wakes(server, agent),
            Happening::ServerCrashes => {
                if let Some(server) = self.some_server() {
                    self.server_crashes(server);
                }
            }
            Happening::ServerStarts => self.server_starts(),
            Happening::Takeover => self.takeover(),
            Happening::TakeUp(server) => self.look_for_run(server),
            Happening::ServerDies(server) => self.server_dies(server),
            Happening::Letter(server, letter) => self.letter(server, letter),
            Happening::Placed(server, agent) => self.placed(server, agent),
            Happening::Again(server) => self.again(server),
            Happening::Command(input) => {
                let is_kept = self.driver().is_some_and(|server| self.run_input(server, input.clone()));
                // Whoever paused a run does not forget it.
                if !is_kept && input == Input::Resume {
                    self.after_ms(1000, Happening::Command(input));
                }
            }
        }
    }

    // The end.

    fn is_settled(&self) -> bool {
        self.truth.has_ended()
            && !self.is_chaos()
            && self.agents.iter().all(Agent::owes_nothing)
            && self.driver().is_some()
    }

    fn check_end(&mut self) {
        let again = Run::restored(RUN, self.blueprint, &self.history);
        let is_same = self.driver().is_some_and(|server| {
            self.servers[server].drives.as_ref().is_some_and(|(_, run)| again.as_ref() == Ok(run))
        });
        if !is_same {
            self.truth.broken.push("the state of the run is not the fold of its history".to_owned());
        }
        self.truth.settle(self.blueprint);
    }
}
