//! A small language for blueprints, and helpers to drive runs of them.

use std::collections::BTreeMap;

use stoker_engine::blueprint::{
    Blueprint, Defect, Draft, DraftInstance, DraftWork, ExecutionOptions, Group, Handlers, Policy,
};
use stoker_engine::run::{
    EngineEvent, Input, InputError, InstanceState, NodeOutcome, Phase, RunEffect, RunMachine, RunOutcome,
    StepResult, StopMode, step,
};
use stoker_engine::session::{AttemptKey, CancelMode, ResultKind};
use stoker_graph::Csr;
use stoker_model::{InstanceIdx, Micros, NodeIdx, RunId, TaskIdx, TaskReport};

pub(crate) const RUN: RunId = RunId(7);

pub(crate) const POLICY: Policy = Policy {
    timeout_ms: 100_000,
    n_retries: 0,
    interval_ms: 2000,
    fail_on_error: true,
    retry_interrupted: false,
};

/// A blueprint described as text: instances are `task@node`; the node `sync` holds the stages.
#[derive(Clone, Default)]
pub(crate) struct Sketch {
    instances: Vec<String>,
    edges: Vec<(u32, u32)>,
    skipped: Vec<String>,
    policies: BTreeMap<String, Policy>,
    executors: BTreeMap<String, String>,
    limits: BTreeMap<String, u32>,
    groups: Vec<(String, Vec<String>, u64)>,
    /// Triggers and handlers.
    triggers: Vec<(String, String)>,
    durations: Vec<u32>,
    pub(crate) options: ExecutionOptions,
}

impl Sketch {
    /// Returns the instances and chains of instances: `a@1 b@1 > c@2` declares three instances, the second
    /// before the third.
    pub(crate) fn new(text: &str) -> Self {
        let mut sketch = Self::default();
        let words: Vec<&str> = text.split_whitespace().collect();
        let index_of = |sketch: &mut Self, word: &str| {
            let existing = sketch.instances.iter().position(|name| name == word);
            existing.unwrap_or_else(|| {
                sketch.instances.push(word.to_owned());
                sketch.instances.len() - 1
            }) as u32
        };
        let mut before = None;
        let mut is_chained = false;
        for word in words {
            if word == ">" {
                is_chained = true;
                continue;
            }
            let idx = index_of(&mut sketch, word);
            if let (true, Some(before)) = (is_chained, before) {
                sketch.edges.push((before, idx));
            }
            (before, is_chained) = (Some(idx), false);
        }
        sketch
    }

    pub(crate) fn skip(mut self, name: &str) -> Self {
        self.skipped.push(name.to_owned());
        self
    }

    pub(crate) fn policy(mut self, name: &str, policy: Policy) -> Self {
        self.policies.insert(name.to_owned(), policy);
        self
    }

    pub(crate) fn executor(mut self, name: &str, node: &str) -> Self {
        self.executors.insert(name.to_owned(), node.to_owned());
        self
    }

    /// Lets an instance run only after a change of another one, which must come before it.
    pub(crate) fn handler(mut self, name: &str, trigger: &str) -> Self {
        self.triggers.push((trigger.to_owned(), name.to_owned()));
        self
    }

    /// Sets the limit of one instance.
    pub(crate) fn limit(mut self, name: &str, limit: u32) -> Self {
        self.limits.insert(name.to_owned(), limit);
        self
    }

    pub(crate) fn group(mut self, name: &str, nodes: &[&str], tolerated: u64) -> Self {
        self.groups.push((name.to_owned(), nodes.iter().map(|&node| node.to_owned()).collect(), tolerated));
        self
    }

    /// Lets all nodes fail.
    pub(crate) fn tolerant(self) -> Self {
        let nodes: Vec<String> = self.nodes().into_iter().filter(|node| node != "sync").collect();
        let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
        self.group("all", &nodes, 100)
    }

    pub(crate) fn options(mut self, change: impl FnOnce(&mut ExecutionOptions)) -> Self {
        change(&mut self.options);
        self
    }

    pub(crate) fn durations(mut self, durations: &[u32]) -> Self {
        self.durations = durations.to_vec();
        self
    }

    fn nodes(&self) -> Vec<String> {
        let mut nodes: Vec<String> = Vec::new();
        let own = self.instances.iter().map(|name| split(name).1);
        for node in own.chain(self.executors.values().map(String::as_str)) {
            if !nodes.iter().any(|name| name == node) {
                nodes.push(node.to_owned());
            }
        }
        nodes
    }

    pub(crate) fn draft(&self) -> Draft {
        let nodes = self.nodes();
        let node = |uid: &str| NodeIdx::at(nodes.iter().position(|name| name == uid).expect("a node"));
        let mut tasks: Vec<String> = self.instances.iter().map(|name| split(name).0.to_owned()).collect();
        tasks.sort();
        tasks.dedup();
        let instance = |name: &String| {
            let (task, own) = split(name);
            let is_skipped = own == "sync" || self.skipped.contains(name);
            let work = DraftWork {
                executor: node(self.executors.get(name).map_or(own, String::as_str)),
                policy: self.policies.get(name).copied().unwrap_or(POLICY),
                limit: self.limits.get(name).copied(),
            };
            let task = TaskIdx::at(tasks.iter().position(|name| name == task).expect("a task"));
            DraftInstance { task, node: node(own), work: (!is_skipped).then_some(work) }
        };
        let group = |(name, uids, tolerated): &(String, Vec<String>, u64)| Group {
            name: name.clone(),
            nodes: uids.iter().map(|uid| node(uid)).collect(),
            tolerated: *tolerated,
        };
        Draft {
            sync: nodes.iter().position(|uid| uid == "sync").map(NodeIdx::at),
            instances: self.instances.iter().map(instance).collect(),
            order: Csr::new(self.instances.len(), self.edges.clone()),
            groups: self.groups.iter().map(group).collect(),
            handlers: self.handlers(),
            durations: self.durations.clone(),
            options: self.options.clone(),
            tasks,
            nodes,
        }
    }

    fn handlers(&self) -> Handlers {
        let idx = |name: &String| {
            InstanceIdx::at(self.instances.iter().position(|other| other == name).expect("an instance"))
        };
        let edges: Vec<(u32, u32)> =
            self.triggers.iter().map(|(from, to)| (idx(from).get(), idx(to).get())).collect();
        Handlers {
            only_triggered: self.triggers.iter().map(|(_, to)| idx(to)).collect(),
            triggers: (!edges.is_empty()).then(|| Csr::new(self.instances.len(), edges)),
        }
    }

    pub(crate) fn build(&self) -> Result<Blueprint, Vec<Defect>> {
        Blueprint::new(self.draft())
    }

    /// Returns a run that has begun.
    pub(crate) fn begin(&self) -> Play {
        let mut play = Play::new(self.build().expect("a valid blueprint"));
        play.give(Input::Begin);
        play
    }
}

fn split(name: &str) -> (&str, &str) {
    name.split_once('@').expect("task@node")
}

/// A run under test. After each step its state is compared with the fold of its events.
pub(crate) struct Play {
    pub(crate) blueprint: Blueprint,
    pub(crate) run: RunMachine,
    pub(crate) now: Micros,
    pub(crate) events: Vec<EngineEvent>,
    pub(crate) effects: Vec<RunEffect>,
}

impl Play {
    pub(crate) fn new(blueprint: Blueprint) -> Self {
        let run = RunMachine::new(RUN, &blueprint);
        Self { blueprint, run, now: Micros(1_000_000), events: Vec::new(), effects: Vec::new() }
    }

    pub(crate) fn try_give(&mut self, input: Input) -> Result<(), InputError> {
        let before = self.run.clone();
        let StepResult { events, effects } = step(&mut self.run, &self.blueprint, input, self.now)
            .inspect_err(|_| assert_eq!(self.run, before))?;
        self.events.extend(events);
        self.effects.extend(effects);
        assert_eq!(
            Ok(&self.run),
            RunMachine::restore(RUN, &self.blueprint, &self.events).as_ref(),
            "the fold of the events"
        );
        Ok(())
    }

    pub(crate) fn give(&mut self, input: Input) -> &mut Self {
        self.try_give(input).expect("a legal input");
        self
    }

    pub(crate) fn idx(&self, name: &str) -> InstanceIdx {
        let mut all = InstanceIdx::first(self.blueprint.n_instances());
        all.find(|idx| self.blueprint.name(*idx) == name).expect("an instance")
    }

    pub(crate) fn node(&self, uid: &str) -> NodeIdx {
        self.blueprint.node_of_uid(uid).expect("a node")
    }

    pub(crate) fn key(&self, name: &str, attempt: u32) -> AttemptKey {
        AttemptKey { run: RUN, instance: self.idx(name), attempt }
    }

    /// Ends the current attempt of an instance.
    pub(crate) fn end(&mut self, name: &str, end: ResultKind) -> &mut Self {
        let key = self.key(name, self.run.n_attempts(self.idx(name)));
        let at = self.now;
        self.give(Input::AttemptFinished { key, at, end, report: TaskReport::default() })
    }

    pub(crate) fn ok(&mut self, name: &str) -> &mut Self {
        assert!(self.running().iter().any(|running| running == name), "{name} among {:?}", self.running());
        self.end(name, ResultKind::Succeeded)
    }

    pub(crate) fn fail(&mut self, name: &str) -> &mut Self {
        self.end(name, ResultKind::Failed { message: "no".to_owned() })
    }

    pub(crate) fn lost(&mut self, uid: &str) -> &mut Self {
        let node = self.node(uid);
        self.give(Input::NodeLost { node })
    }

    pub(crate) fn back(&mut self, uid: &str) -> &mut Self {
        let node = self.node(uid);
        self.give(Input::NodeBack { node })
    }

    pub(crate) fn stop(&mut self, how: StopMode) -> &mut Self {
        self.give(Input::Stop { how })
    }

    pub(crate) fn after(&mut self, seconds: i64) -> &mut Self {
        self.now = self.now.plus_seconds(seconds);
        self.give(Input::Wake)
    }

    /// Returns the instances in flight.
    pub(crate) fn running(&self) -> Vec<String> {
        self.run.in_flight().map(|flight| self.blueprint.name(flight.key.instance)).collect()
    }

    pub(crate) fn state(&self, name: &str) -> InstanceState {
        self.run.state(self.idx(name)).expect("a state")
    }

    pub(crate) fn states(&self) -> Vec<InstanceState> {
        InstanceIdx::first(self.blueprint.n_instances()).filter_map(|idx| self.run.state(idx)).collect()
    }

    pub(crate) fn node_end(&self, uid: &str) -> Option<NodeOutcome> {
        self.run.node_end(self.node(uid))
    }

    pub(crate) fn run_end(&self) -> Option<&RunOutcome> {
        match self.run.phase() {
            Phase::Ended(end) => Some(end),
            _ => None,
        }
    }

    pub(crate) fn message(&self) -> String {
        self.run_end().and_then(|end| end.message(&self.blueprint)).unwrap_or_default()
    }

    pub(crate) fn cancels(&self) -> Vec<(String, u32, CancelMode)> {
        let cancel = |effect: &RunEffect| match effect {
            RunEffect::Cancel { key, how } => Some((self.blueprint.name(key.instance), key.attempt, *how)),
            _ => None,
        };
        self.effects.iter().filter_map(cancel).collect()
    }
}
