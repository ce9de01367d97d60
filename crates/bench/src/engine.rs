//! Throughput of the engine with no-op instances and in-memory agents.

use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::time::{Duration, Instant};

use stoker_engine::blueprint::{
    Blueprint, Draft, DraftInstance, DraftWork, ExecutionOptions, Handlers, Policy,
};
use stoker_engine::run::{Input, RunEffect, RunMachine, step};
use stoker_engine::session::agent::{
    AgentLimits, AgentSession, Identity, Input as AgentInput, Output as AgentOutput,
};
use stoker_engine::session::server::{
    Input as SessionInput, Output as SessionOutput, ServerSession, SessionSettings,
};
use stoker_engine::session::{Attempt, Generation, Mode, ResultKind, ToAgent};
use stoker_graph::Csr;
use stoker_model::{Json, JsonMap, Micros, NodeIdx, RunId, TaskIdx, TaskReport};

use crate::row::{Limit, Row};

const RUN: RunId = RunId(1);
const NOW: Micros = Micros(0);
const N_NODES: u32 = 1000;
const N_TASKS: u32 = 100;

pub(crate) fn measure() -> Result<Vec<Row>, Box<dyn Error>> {
    let blueprint = blueprint()?;
    let n_instances = f64::from(N_NODES * N_TASKS);
    let run_only = run_only(&blueprint)?;
    let with_sessions = through_sessions(&blueprint)?;
    let row =
        |label: &str, measured, unit, limit| Row::new(format!("engine: {label}"), measured, unit, limit);
    Ok(vec![
        row(
            "instances through the run, both sides of the sessions and the journals",
            n_instances / with_sessions.as_secs_f64(),
            "a second",
            Limit::AtLeast(50_000.0),
        ),
        row(
            "instances through the run alone",
            n_instances / run_only.total.as_secs_f64(),
            "a second",
            Limit::AtLeast(200_000.0),
        ),
        row(
            "from a result to the dispatch it causes, 99th percentile, 100,000 instances",
            run_only.p99.as_secs_f64() * 1e6,
            "µs",
            Limit::AtMost(1000.0),
        ),
    ])
}

/// Returns a chain of a hundred tasks on each of a thousand nodes, with a join in the middle.
fn blueprint() -> Result<Blueprint, Box<dyn Error>> {
    let policy = Policy {
        timeout_ms: 300_000,
        n_retries: 0,
        interval_ms: 0,
        fail_on_error: true,
        retry_interrupted: false,
    };
    let instance_idx = |task: u32, node: u32| task * N_NODES + node;
    let join = N_TASKS * N_NODES;
    let (mut instances, mut edges) = (Vec::new(), Vec::new());
    for task in 0..N_TASKS {
        for node in 0..N_NODES {
            let limit = (task % 10 == 3).then_some(300);
            let work = DraftWork { executor: NodeIdx::new(node), policy, limit };
            instances.push(DraftInstance {
                task: TaskIdx::new(task),
                node: NodeIdx::new(node),
                work: Some(work),
            });
            if task == N_TASKS / 2 {
                edges.extend([(instance_idx(task - 1, node), join), (join, instance_idx(task, node))]);
            } else if task > 0 {
                edges.push((instance_idx(task - 1, node), instance_idx(task, node)));
            }
        }
    }
    let draft = Draft {
        nodes: (0..N_NODES).map(|node| node.to_string()).collect(),
        sync: None,
        tasks: (0..N_TASKS).map(|task| format!("task-{task}")).collect(),
        order: Csr::new(instances.len() + 1, edges),
        instances,
        groups: Vec::new(),
        handlers: Handlers::default(),
        durations: Vec::new(),
        options: ExecutionOptions { max_concurrent_nodes: N_NODES, ..ExecutionOptions::default() },
    };
    Blueprint::new(draft).map_err(|defects| format!("{defects:?}").into())
}

struct RunOnly {
    total: Duration,
    p99: Duration,
}

/// Runs a blueprint with agents that finish all tasks immediately, in dispatch order.
fn run_only(blueprint: &Blueprint) -> Result<RunOnly, Box<dyn Error>> {
    let begin = Instant::now();
    let mut run = RunMachine::new(RUN, blueprint);
    let mut sent = VecDeque::new();
    let mut durations = Vec::with_capacity(blueprint.n_instances());
    let mut input = Input::Begin;
    loop {
        let step_begin = Instant::now();
        let result = step(&mut run, blueprint, input, NOW)?;
        durations.push(step_begin.elapsed());
        sent.extend(result.effects.into_iter().filter_map(|effect| match effect {
            RunEffect::Dispatch(key) => Some(key),
            _ => None,
        }));
        let Some(key) = sent.pop_front() else { break };
        input = Input::AttemptFinished {
            key,
            at: NOW,
            end: ResultKind::Succeeded,
            report: TaskReport::default(),
        };
    }
    let total = begin.elapsed();
    if !run.has_ended() {
        return Err("the run has not ended".into());
    }
    durations.sort_unstable();
    Ok(RunOnly { total, p99: durations[durations.len() * 99 / 100] })
}

/// Simulated environment without network, disk and processes: messages are passed in memory, writes succeed,
/// and tasks end immediately.
struct World<'w> {
    blueprint: &'w Blueprint,
    run: RunMachine,
    sessions: Vec<ServerSession>,
    agents: Vec<AgentSession>,
    /// Number of journal records by agent.
    n_written: BTreeMap<usize, usize>,
    queue: VecDeque<Message>,
}

enum Message {
    Run(Input),
    Server(usize, SessionInput),
    Agent(usize, AgentInput),
}

fn through_sessions(blueprint: &Blueprint) -> Result<Duration, Box<dyn Error>> {
    let begin = Instant::now();
    let agent = |uid: u32| {
        let identity = Identity { node: uid.to_string().into(), version: "1".to_owned(), journal_id: None };
        AgentSession::new(identity, AgentLimits::default())
    };
    let mut world = World {
        blueprint,
        run: RunMachine::new(RUN, blueprint),
        sessions: (0..N_NODES).map(|_| ServerSession::new(SessionSettings::default(), NOW).0).collect(),
        agents: (0..N_NODES).map(agent).collect(),
        n_written: BTreeMap::new(),
        queue: VecDeque::new(),
    };
    for agent in 0..N_NODES as usize {
        world.queue.push_back(Message::Agent(agent, AgentInput::Connected { facts: JsonMap::new() }));
    }
    world.queue.push_back(Message::Run(Input::Begin));
    while let Some(message) = world.queue.pop_front() {
        match message {
            Message::Run(input) => world.run_input(input)?,
            Message::Server(agent, input) => world.server_input(agent, input),
            Message::Agent(agent, input) => world.agent_input(agent, input),
        }
    }
    if world.run.has_ended() { Ok(begin.elapsed()) } else { Err("the run has not ended".into()) }
}

impl World<'_> {
    fn run_input(&mut self, input: Input) -> Result<(), Box<dyn Error>> {
        let ended = match &input {
            Input::AttemptFinished { key, .. } => Some(*key),
            _ => None,
        };
        let result = step(&mut self.run, self.blueprint, input, NOW)?;
        if let Some(key) = ended {
            let agent = self.blueprint.executor_of(key.instance).map_or(0, NodeIdx::index);
            self.queue.push_back(Message::Server(agent, SessionInput::Recorded { keys: vec![key] }));
        }
        for effect in result.effects {
            if let RunEffect::Dispatch(key) = effect {
                let agent = self.blueprint.executor_of(key.instance).map_or(0, NodeIdx::index);
                let dispatch = SessionInput::Dispatch { key, generation: Generation(1) };
                self.queue.push_back(Message::Server(agent, dispatch));
            }
        }
        Ok(())
    }

    fn server_input(&mut self, agent: usize, input: SessionInput) {
        for output in self.sessions[agent].step(input, NOW) {
            let message = match output {
                SessionOutput::Send(message) => Message::Agent(agent, AgentInput::Message(message)),
                SessionOutput::Deliver { key, generation } => {
                    let (task, node) = self.blueprint.names(key.instance).unwrap_or_default();
                    let attempt = Attempt {
                        key,
                        generation,
                        task: task.to_owned(),
                        node: node.to_owned(),
                        task_type: "noop".to_owned(),
                        parameters: Json::Null,
                        mode: Mode::Normal,
                        debug: false,
                        timeout_ms: 300_000,
                        secrets: Vec::new(),
                        trace: None,
                    };
                    Message::Agent(agent, AgentInput::Message(ToAgent::Start(attempt)))
                }
                SessionOutput::Started { key, at } => Message::Run(Input::AttemptStarted { key, at }),
                SessionOutput::Finished(it) => {
                    let (key, at, end, report) = (it.key, it.at, it.end, it.report);
                    Message::Run(Input::AttemptFinished { key, at, end, report })
                }
                _ => continue,
            };
            self.queue.push_back(message);
        }
    }

    fn agent_input(&mut self, agent: usize, input: AgentInput) {
        for output in self.agents[agent].step(input, NOW) {
            let message = match output {
                AgentOutput::Write { seq, .. } => {
                    *self.n_written.entry(agent).or_default() += 1;
                    Message::Agent(agent, AgentInput::Written { seq })
                }
                AgentOutput::Rewrite { seq, records } => {
                    self.n_written.insert(agent, records.len());
                    Message::Agent(agent, AgentInput::Written { seq })
                }
                AgentOutput::Send(message) => Message::Server(agent, SessionInput::Message(message)),
                AgentOutput::Start(attempt) => {
                    let (key, end) = (attempt.key, ResultKind::Succeeded);
                    Message::Agent(agent, AgentInput::Exited { key, end, report: TaskReport::default() })
                }
                _ => continue,
            };
            self.queue.push_back(message);
        }
    }
}
