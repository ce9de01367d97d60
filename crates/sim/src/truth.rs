//! What really happened, and whether history and rules agree with it.
//!
//! Nothing here asks the machines: rules are worked out again from the draft and the events, the slow and plain way.

use std::collections::{BTreeMap, BTreeSet};

use stoker_engine::blueprint::{AtStages, Blueprint, Draft, OnFailure};
use stoker_engine::run::{AttemptEnd, Event, EventKind, Next, NotStarted, Outcome, Resolution, RunEnd};
use stoker_engine::session::{AttemptKey, End};

/// A rule that was broken.
pub type Broken = String;

/// How an instance ended, as the history says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Well,
    Skipped,
    Badly,
}

/// An attempt as the world saw it.
#[derive(Clone, Debug, Default)]
struct Execution {
    n_begun: u32,
    /// The end that is safe in the journal of its agent, and must become history.
    journaled: Option<End>,
    /// What the process did.
    really: Option<End>,
}

pub(crate) struct Truth {
    draft: Draft,
    /// By instance those directly before it, joins looked through.
    before: Vec<Vec<u32>>,
    ended: Vec<Option<Ended>>,
    flights: BTreeSet<u32>,
    failed_nodes: BTreeSet<u32>,
    executions: BTreeMap<AttemptKey, Execution>,
    /// What history says of attempts: what agents reported, in the run or late.
    reported: BTreeMap<AttemptKey, End>,
    /// Ended by the engine.
    given_up: BTreeSet<(u32, u32)>,
    node_ends: BTreeSet<u32>,
    run_end: Option<RunEnd>,
    is_stop_asked: bool,
    pub(crate) n_events: usize,
    pub(crate) broken: Vec<Broken>,
}

impl Truth {
    pub(crate) fn new(draft: Draft) -> Self {
        let n_instances = draft.instances.len();
        let mut before = vec![Vec::new(); n_instances];
        let reversed = draft.order.reversed();
        for (idx, own) in (0..).zip(&mut before) {
            for vertex in reversed.targets(idx) {
                if (*vertex as usize) < n_instances {
                    own.push(*vertex);
                } else {
                    own.extend_from_slice(reversed.targets(*vertex));
                }
            }
        }
        Self {
            before,
            ended: vec![None; n_instances],
            flights: BTreeSet::new(),
            failed_nodes: BTreeSet::new(),
            executions: BTreeMap::new(),
            reported: BTreeMap::new(),
            given_up: BTreeSet::new(),
            node_ends: BTreeSet::new(),
            run_end: None,
            is_stop_asked: false,
            n_events: 0,
            broken: Vec::new(),
            draft,
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.run_end.is_some()
    }

    fn say(&mut self, broken: impl Into<String>) {
        self.broken.push(broken.into());
    }

    // What the world does.

    pub(crate) fn process_begins(&mut self, key: AttemptKey, others: &[AttemptKey]) {
        let execution = self.executions.entry(key).or_default();
        execution.n_begun += 1;
        if execution.n_begun > 1 {
            self.say(format!("attempt {key} was carried out twice"));
        }
        if others.iter().any(|other| other.instance == key.instance) {
            self.say(format!("two attempts of instance {} run at once", key.instance));
        }
        let node = self.draft.instances[key.instance as usize].node;
        for other in others {
            let is_unknown = self.given_up.contains(&(other.instance, other.attempt));
            if self.draft.instances[other.instance as usize].node == node && !is_unknown {
                self.say(format!("{other} and {key} run at once on one node"));
            }
            if self.is_before(other.instance, key.instance) && !is_unknown {
                self.say(format!("{key} has begun while {other}, which is before it, runs"));
            }
        }
    }

    pub(crate) fn process_ended(&mut self, key: AttemptKey, end: &End) {
        self.executions.entry(key).or_default().really = Some(end.clone());
    }

    pub(crate) fn journaled(&mut self, key: AttemptKey, end: &End) {
        let before = self.executions.entry(key).or_default().journaled.replace(end.clone());
        if let Some(before) = before.filter(|before| before != end) {
            self.say(format!("{key} ended with {before:?}, and then with {end:?}"));
        }
    }

    /// Power was lost before the end was safe.
    pub(crate) fn forgotten(&mut self, key: AttemptKey) {
        self.executions.entry(key).or_default().journaled = None;
    }

    /// The server makes the best of it and takes the attempt for interrupted, if it has heard that it was begun. It must not
    /// come to that.
    pub(crate) fn promise_is_lost(&mut self, key: AttemptKey) {
        if self.executions.get(&key).is_some_and(|execution| execution.n_begun > 0) {
            self.say(format!("the agent has forgotten that it had begun {key}"));
        }
    }

    // What history says.

    pub(crate) fn committed(&mut self, events: &[Event]) {
        for event in events {
            self.n_events += 1;
            if self.run_end.is_some() && !matches!(event.kind, EventKind::LateResult { .. }) {
                self.say(format!("after the end of the run: {:?}", event.kind));
            }
            self.event(&event.kind);
        }
    }

    fn event(&mut self, kind: &EventKind) {
        match kind {
            EventKind::Dispatched { instance, .. } => self.dispatched(*instance),
            EventKind::AttemptEnded { instance, attempt, end, next, .. } => {
                match end {
                    AttemptEnd::Reported(end) => self.report(*instance, *attempt, end),
                    AttemptEnd::Lost | AttemptEnd::NoAnswer => {
                        self.given_up.insert((*instance, *attempt));
                    }
                }
                if let Next::Final(outcome) = next {
                    self.flights.remove(instance);
                    self.outcome(*instance, *outcome);
                }
            }
            EventKind::LateResult { instance, attempt, end, .. } => {
                if !self.given_up.contains(&(*instance, *attempt)) {
                    self.say(format!("{instance}/{attempt} is late and nobody gave it up"));
                }
                self.report(*instance, *attempt, end);
            }
            EventKind::Resolved { ends } => {
                for (instance, resolution) in ends {
                    self.resolved(*instance, *resolution);
                }
            }
            EventKind::NodeGivenUp { node } => {
                let is_open = |idx: usize| self.ended[idx].is_none();
                let mut own = (0..self.ended.len()).filter(|idx| is_open(*idx));
                let is_needed = own.any(|idx| {
                    let instance = &self.draft.instances[idx];
                    let executor = instance.work.as_ref().map(|work| work.executor);
                    instance.node == *node || executor == Some(*node) && self.flights.contains(&(idx as u32))
                });
                if is_needed {
                    self.failed_nodes.insert(*node);
                }
            }
            EventKind::NodeEnded { node, .. } => self.node_ended(*node),
            EventKind::StopAsked { .. } => self.is_stop_asked = true,
            EventKind::Ended { end } => self.run_end = Some(end.clone()),
            _ => {}
        }
    }

    fn node_ended(&mut self, node: u32) {
        if !self.node_ends.insert(node) {
            self.say(format!("node {node} ended twice"));
        }
    }

    fn report(&mut self, instance: u32, attempt: u32, end: &End) {
        let key = AttemptKey { run: crate::world::RUN, instance, attempt };
        if self.reported.insert(key, end.clone()).is_some() {
            self.say(format!("history has two ends of {key}"));
        }
        let really = self.executions.get(&key).and_then(|execution| execution.really.clone());
        if *end == End::Succeeded && really != Some(End::Succeeded) {
            self.say(format!("history says that {key} succeeded; it was {really:?}"));
        }
    }

    fn dispatched(&mut self, idx: u32) {
        if self.ended[idx as usize].is_some() {
            self.say(format!("instance {idx} is begun after its end"));
        }
        for before in self.before[idx as usize].clone() {
            if !self.is_passed(before) {
                self.say(format!("instance {idx} is begun, and {before} before it did not end well"));
            }
        }
        self.flights.insert(idx);
        let instances = &self.draft.instances;
        let of = |idx: &u32| &instances[*idx as usize];
        let mut busy: Vec<u32> = self.flights.iter().map(|idx| of(idx).node).collect();
        busy.sort_unstable();
        let n_busy = busy.len();
        busy.dedup();
        let own = of(&idx);
        let limits = instances
            .iter()
            .filter(|other| other.task == own.task)
            .filter_map(|other| other.work.as_ref()?.limit);
        let limit = limits.filter(|limit| *limit > 0).min();
        let n_running = self.flights.iter().filter(|idx| of(idx).task == own.task).count();
        let mut broken = Vec::new();
        if busy.len() < n_busy {
            broken.push(format!("two tasks of one node at once: {:?}", self.flights));
        }
        if busy.len() > self.draft.options.nodes_at_once as usize {
            broken.push(format!("too many nodes at once: {busy:?}"));
        }
        if limit.is_some_and(|limit| n_running > limit as usize) {
            broken.push(format!("too many instances of task {}: {:?}", own.task, self.flights));
        }
        self.broken.extend(broken);
    }

    /// Whether what comes after an instance may begin.
    fn is_passed(&self, idx: u32) -> bool {
        let is_stage = Some(self.draft.instances[idx as usize].node) == self.draft.sync;
        match self.ended[idx as usize] {
            Some(Ended::Well) => true,
            Some(Ended::Skipped) if is_stage && self.draft.options.at_stages == AtStages::Pass => true,
            Some(Ended::Skipped) => self.before[idx as usize].iter().all(|before| self.is_passed(*before)),
            Some(Ended::Badly) | None => false,
        }
    }

    fn is_before(&self, earlier: u32, later: u32) -> bool {
        let mut waiting = vec![later];
        let mut seen = BTreeSet::new();
        while let Some(idx) = waiting.pop() {
            for before in &self.before[idx as usize] {
                if *before == earlier {
                    return true;
                }
                if seen.insert(*before) {
                    waiting.push(*before);
                }
            }
        }
        false
    }

    fn outcome(&mut self, idx: u32, outcome: Outcome) {
        let node = self.draft.instances[idx as usize].node;
        let is_fatal =
            self.draft.instances[idx as usize].work.as_ref().is_some_and(|work| work.policy.fail_on_error);
        if outcome == Outcome::Failed {
            self.failed_nodes.insert(node);
            if !is_fatal {
                self.say(format!("instance {idx} must not fail its node"));
            }
        }
        let is_good = matches!(outcome, Outcome::Succeeded | Outcome::Ignored);
        self.end(idx, if is_good { Ended::Well } else { Ended::Badly });
    }

    fn resolved(&mut self, idx: u32, resolution: Resolution) {
        if self.before[idx as usize].iter().any(|before| self.ended[*before as usize].is_none()) {
            self.say(format!("instance {idx} ends before what is before it"));
        }
        match resolution {
            Resolution::Skipped => self.end(idx, Ended::Skipped),
            Resolution::NotRetried(outcome) => {
                self.flights.remove(&idx);
                self.outcome(idx, outcome);
            }
            Resolution::Blocked { by } => {
                if self.ended[by as usize] != Some(Ended::Badly) {
                    self.say(format!("{idx} is blocked by {by}, which did not fail"));
                }
                self.end(idx, Ended::Badly);
            }
            Resolution::NotStarted(NotStarted::NodeLost { node }) => {
                self.failed_nodes.insert(node);
                self.end(idx, Ended::Badly);
            }
            Resolution::NotStarted(_) => self.end(idx, Ended::Badly),
        }
    }

    fn end(&mut self, idx: u32, ended: Ended) {
        if self.ended[idx as usize].replace(ended).is_some() {
            self.say(format!("instance {idx} ended twice"));
        }
    }

    // When everything is over.

    pub(crate) fn settle(&mut self, blueprint: &Blueprint) {
        for idx in 0..self.ended.len() {
            if self.ended[idx].is_none() {
                self.say(format!("instance {idx} has no end"));
            }
        }
        for node in 0..self.draft.nodes.len() as u32 {
            let has_instances = self.draft.instances.iter().any(|instance| instance.node == node);
            let is_sync = self.draft.sync == Some(node);
            if has_instances && !is_sync && !self.node_ends.contains(&node) {
                self.say(format!("node {node} has no end"));
            }
        }
        for (key, execution) in self.executions.clone() {
            match (&execution.journaled, self.reported.get(&key)) {
                (Some(end), Some(reported)) if end == reported => {}
                // The disk was full when it ended, or power was lost before it was safe. The server was told all the same, and
                // then the agent died.
                (Some(End::Interrupted), Some(reported)) if execution.really.as_ref() == Some(reported) => {}
                (Some(end), reported) => {
                    let reported = reported.cloned();
                    self.say(format!("{key} ended with {end:?}, and history says {reported:?}"));
                }
                (None, Some(_)) => {}
                (None, None) => self.say(format!("nothing is known of the end of {key}")),
            }
        }
        self.check_run_end(blueprint);
    }

    fn check_run_end(&mut self, blueprint: &Blueprint) {
        let exceeded = blueprint.groups().iter().any(|group| {
            let failed = group.nodes.iter().filter(|node| self.failed_nodes.contains(node)).count();
            failed as u64 > group.tolerated
        });
        let is_right = match &self.run_end {
            None => false,
            Some(RunEnd::ToleranceExceeded { group, nodes }) => {
                let tolerated = blueprint.groups()[*group as usize].tolerated;
                exceeded
                    && nodes.len() as u64 > tolerated
                    && nodes.iter().all(|node| self.failed_nodes.contains(node))
            }
            Some(RunEnd::Held { .. }) => !exceeded && self.draft.options.at_stages == AtStages::Hold,
            Some(RunEnd::Stopped) => !exceeded && self.is_stop_asked,
            Some(RunEnd::Tolerated { n_failed_nodes }) => {
                !exceeded && *n_failed_nodes as usize == self.failed_nodes.len()
            }
            Some(RunEnd::Succeeded) => {
                let is_good =
                    self.ended.iter().all(|ended| matches!(ended, Some(Ended::Well | Ended::Skipped)));
                !exceeded && self.failed_nodes.is_empty() && is_good
            }
        };
        if !is_right {
            let (end, failed) = (&self.run_end, &self.failed_nodes);
            let policy = matches!(self.draft.options.on_failure, OnFailure::NodeStops);
            let text = format!("the run ended with {end:?}; failed nodes {failed:?}, node stops: {policy}");
            self.say(text);
        }
    }
}

#[cfg(test)]
mod tests;
