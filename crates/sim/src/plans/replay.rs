//! Replays a history and checks every plan.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Value as Json, json};
use stoker_planner::InstanceAction;

use super::expression::Condition;
use super::generator::generate;
use super::history::{History, Operation, RunRequest};
use super::machines::{Content, Machines};
use super::model::{Decision, Event, Key, Oracle, Verdicts};
use super::site::{Site, SiteTask};
use super::world::{PlanSabotage, PlanVariant, World, WorldPlan, running};
use crate::rng::Rng;

/// Figures of replayed histories.
#[derive(Clone, Debug, Default)]
pub struct PlansReport {
    /// Violated checks of the first plan that violates any.
    pub violations: Vec<PlanViolation>,
    pub n_plans: u64,
    pub n_instances: u64,
    pub n_running: u64,
    /// Instances without a change, and those of them that the planner skipped.
    pub n_unaffected: u64,
    pub n_unaffected_skipped: u64,
    /// Every step in words, if requested.
    pub(crate) log: Vec<String>,
}

/// A violated check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanViolation {
    pub check: &'static str,
    pub message: String,
}

impl fmt::Display for PlanViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.check, self.message)
    }
}

impl PlansReport {
    /// Adds the figures of another report.
    pub fn add(&mut self, other: &Self) {
        self.n_plans += other.n_plans;
        self.n_instances += other.n_instances;
        self.n_running += other.n_running;
        self.n_unaffected += other.n_unaffected;
        self.n_unaffected_skipped += other.n_unaffected_skipped;
    }
}

/// Replays the history of a seed up to the first plan that violates a check.
pub fn simulate_plans(seed: u64, sabotage: PlanSabotage) -> PlansReport {
    replay(&generate(seed), sabotage, false)
}

pub(crate) fn replay(history: &History, sabotage: PlanSabotage, with_log: bool) -> PlansReport {
    let mut replay = Replay {
        site: history.site.clone(),
        oracle: Oracle::default(),
        world: World::new(sabotage),
        machines: Machines::default(),
        pending: BTreeSet::new(),
        given_up: Vec::new(),
        n_runs: 0,
        report: PlansReport::default(),
        with_log,
    };
    let is_end = |replay: &Replay| !replay.report.violations.is_empty();
    for operation in &history.operations {
        replay.log(|| operation.to_string());
        replay.perform(operation);
        if is_end(&replay) {
            return replay.report;
        }
    }
    for graph in history.site.graphs.keys() {
        let request = RunRequest {
            graph,
            scope: super::site::Scope::default(),
            is_dry: true,
            luck: 0,
            failing: 0,
            replaced: None,
        };
        replay.log(|| format!("finally: {request}"));
        replay.run(&request);
        if is_end(&replay) {
            break;
        }
    }
    replay.report
}

pub(super) struct Replay {
    pub(super) site: Site,
    pub(super) oracle: Oracle,
    pub(super) world: World,
    pub(super) machines: Machines,
    /// Handlers whose triggers reported an attempt that changed the machine.
    pub(super) pending: BTreeSet<Key>,
    /// Attempts whose end is unknown, and what their processes write when they complete.
    pub(super) given_up: Vec<(Key, i64, Content)>,
    pub(super) n_runs: i64,
    report: PlansReport,
    with_log: bool,
}

impl Replay {
    pub(super) fn log(&mut self, line: impl FnOnce() -> String) {
        if self.with_log {
            self.report.log.push(line());
        }
    }

    fn violate(&mut self, check: &'static str, message: String) {
        self.report.violations.push(PlanViolation { check, message });
    }

    fn perform(&mut self, operation: &Operation) {
        match operation {
            Operation::Run(request) => self.run(request),
            Operation::LateResult(luck) => self.late_result(*luck),
            edit => {
                let consequences = edit.apply(&mut self.site);
                consequences.invalidated.iter().for_each(|uid| self.invalidate(uid));
                consequences.emptied.iter().for_each(|uid| self.empty(uid));
            }
        }
    }

    pub(super) fn invalidate(&mut self, uid: &str) {
        self.oracle.invalidate(uid);
        self.world.invalidate(uid);
        self.pending.retain(|(_, _, node)| node != uid);
    }

    /// Gives a node an empty machine. Processes of the former machine write to that one.
    pub(super) fn empty(&mut self, uid: &str) {
        self.machines.empty(uid);
        self.given_up.retain(|((_, _, node), ..)| node != uid);
    }

    fn late_result(&mut self, luck: u64) {
        if self.given_up.is_empty() {
            return;
        }
        let idx = Rng::new(luck).below(self.given_up.len() as u64) as usize;
        let (key, run, content) = self.given_up.swap_remove(idx);
        self.log(|| format!("  the process of {key:?} of run {run} completes"));
        self.world.mark_late(key.0, &key.1, &key.2, run);
        self.oracle.record(key.clone(), Event::LateResult);
        self.machines.write(key, content);
    }

    /// Plans, checks the plan, and executes it unless it is a dry run.
    fn run(&mut self, request: &RunRequest) {
        if !self.site.graphs.contains_key(request.graph) {
            return;
        }
        let verdicts = self.oracle.decide(&self.site, request.graph, &request.scope);
        let plan = |variant| self.world.plan(&self.site, request.graph, &request.scope, variant);
        let (dry, real) = match (plan(PlanVariant::DryRun), plan(PlanVariant::RealRun)) {
            (Ok(dry), Ok(real)) => (dry, real),
            (Err(report), _) | (_, Err(report)) => {
                return self.violate("plan", format!("planning failed: {:?}", report.problems));
            }
        };
        self.report.n_plans += 1;
        if dry.plan != real.plan || dry.report != real.report {
            let difference = format!(
                "dry run: {:?}; real run: {:?}",
                running(&dry.plan).collect::<Vec<_>>(),
                running(&real.plan).collect::<Vec<_>>()
            );
            return self.violate("dry run equals real run", difference);
        }
        self.check(request, &verdicts, &real);
        if self.report.violations.is_empty() && !request.is_dry {
            self.execute(request, &real);
        }
    }

    fn check(&mut self, request: &RunRequest, verdicts: &Verdicts, planned: &WorldPlan) {
        let plan = &planned.plan;
        let mut expected = verdicts.decisions.clone();
        for instance in plan.instances() {
            let name = (instance.task.to_owned(), instance.node.to_owned());
            let runs = instance.verdict.action() == InstanceAction::Run;
            self.report.n_instances += 1;
            self.report.n_running += u64::from(runs);
            self.log(|| format!("  {instance}: {}", if runs { "run" } else { "skip" }));
            if verdicts.unaffected.contains(&name) {
                self.report.n_unaffected += 1;
                self.report.n_unaffected_skipped += u64::from(!runs);
            }
            let graph = &self.site.graphs[request.graph];
            let task = graph.tasks[instance.task].clone();
            let follows_others = graph.trigger_of(instance.task).is_some()
                || self.site.group_conditions(graph, instance.task, instance.node).is_some();
            let key = (request.graph, name.0.clone(), name.1.clone());
            if !runs && self.pending.contains(&key) && request.scope.selects_task(&name.0) {
                self.violate("truth", format!("{instance} is skipped, but its trigger changed something"));
            }
            if !runs
                && !follows_others
                && !self.is_deployed(request, &task, &name)
                && request.scope.selects_task(&name.0)
            {
                let content = self.machines.content(&key).cloned();
                self.violate("truth", format!("{instance} is skipped, but the machine has {content:?}"));
            }
            match (expected.remove(&name), runs) {
                (Some(Decision::Skip), false) => {}
                (Some(Decision::Run(parameters)), true) => {
                    let details =
                        plan.details(instance.idx).map_or(&Json::Null, |details| &details.parameters);
                    let rendered = task.computed(details);
                    if rendered != parameters {
                        let message = format!("{instance} has {rendered}, the oracle expects {parameters}");
                        self.violate("parameters", message);
                    }
                }
                (decision, _) => {
                    let action = if runs { "runs" } else { "is skipped" };
                    self.violate("decision", format!("{instance} {action}, the oracle says {decision:?}"));
                }
            }
        }
        if let Some(((task, uid), _)) = expected.first_key_value() {
            self.violate("decision", format!("{task}@{uid} is not in the plan"));
        }
    }

    /// Whether the machine has what the task would write now. Known only for tasks that run whenever their inputs change.
    fn is_deployed(&self, request: &RunRequest, task: &SiteTask, (name, uid): &(String, String)) -> bool {
        if task.effective_condition() != Some(Condition::InputsChanged) {
            return true;
        }
        let expected = self.whole(request, task, uid);
        match (self.machines.content(&(request.graph, name.clone(), uid.clone())), &expected) {
            (Some(Content::Whole { inputs, .. }), Content::Whole { inputs: expected, .. })
                if self.site.graphs[request.graph].keep =>
            {
                inputs == expected
            }
            (content, expected) => content == Some(expected),
        }
    }

    pub(super) fn whole(&self, request: &RunRequest, task: &SiteTask, uid: &str) -> Content {
        Content::Whole {
            definition: task.definition(&self.site),
            inputs: task.inputs_in(&self.site, uid, request.graph, &request.scope),
        }
    }
}

impl SiteTask {
    /// The computed parameters of a plan, in the oracle's form.
    fn computed(&self, rendered: &Json) -> Json {
        let command =
            |text: &str, prefix: &str| text.strip_prefix(prefix).and_then(|text| text.parse::<u32>().ok());
        let command = if self.copies_file {
            rendered["files"][0]["dst"].as_str().and_then(|text| command(text, "/etc/motd-"))
        } else {
            rendered["cmd"].as_str().and_then(|text| command(text, "install "))
        };
        let computed = (0..self.parameters.len()).map(|number| rendered[format!("p{number}")].clone());
        json!({"command": command, "computed": computed.collect::<Vec<_>>()})
    }
}
