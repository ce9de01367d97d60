//! From a plan to a blueprint.

use std::collections::{BTreeSet, HashMap};

use stoker_model::Json;
use stoker_planner::{Action, Details, Instance, Plan, timing, tolerated_nodes};

use super::check::Defect;
use super::draft::{Draft, DraftInstance, Group, Work};
use super::options::Options;
use super::policy::{Policy, RunsOn, Timing};
use super::{Blueprint, NONE, WHOLE_RUN};
use crate::session::Mode;

const MASTER: &str = "master";
const SYNC: &str = "sync";

/// What has to be run for a plan.
///
/// `durations` are expected ones by instance in milliseconds, as far as history knows; `timing` says what is known of a
/// type of task, and nothing of a type that there is not.
pub fn of_plan(
    plan: &Plan,
    options: Options,
    durations: &[Option<u32>],
    timing: impl Fn(&str) -> Option<Timing>,
) -> Result<Blueprint, Vec<Defect>> {
    let (draft, mut defects) = draft_of_plan(plan, options, durations, timing);
    match Blueprint::new(draft) {
        Ok(blueprint) if defects.is_empty() => Ok(blueprint),
        Ok(_) => Err(defects),
        Err(others) => {
            defects.extend(others);
            Err(defects)
        }
    }
}

/// The same before it is checked, and what could not be read.
pub fn draft_of_plan(
    plan: &Plan,
    options: Options,
    durations: &[Option<u32>],
    timing: impl Fn(&str) -> Option<Timing>,
) -> (Draft, Vec<Defect>) {
    let places: HashMap<&str, u32> = plan.nodes.iter().map(String::as_str).zip(0..).collect();
    let place = |uid: &str| places.get(uid).copied();
    let mut reading = Reading { options: &options, master: place(MASTER), timing, defects: Vec::new() };
    let mut instances = Vec::with_capacity(plan.n_instances());
    for (task_idx, task) in (0..).zip(&plan.tasks) {
        for (idx, node) in (task.first..).zip(&*task.nodes) {
            let work = plan.instance(idx).zip(plan.details(idx));
            let work = work.filter(|(instance, _)| instance.verdict.action() == Action::Run);
            let work = work.and_then(|(instance, details)| reading.work(&instance, details, *node));
            instances.push(DraftInstance { task: task_idx, node: *node, work });
        }
    }
    let mut defects = reading.defects;
    let groups = plan.groups.iter().map(|group| Group {
        name: group.name.clone(),
        nodes: group.nodes.iter().filter_map(|uid| place(uid)).collect(),
        tolerated: group.tolerated,
    });
    let mut groups: Vec<Group> = groups.collect();
    match options.fault_tolerance.as_deref().map(|text| whole_run(text, &instances)) {
        Some(Ok(group)) => groups.push(group),
        Some(Err(defect)) => defects.push(defect),
        None => {}
    }
    let draft = Draft {
        sync: place(SYNC),
        tasks: plan.tasks.iter().map(|task| task.name.clone()).collect(),
        instances,
        order: plan.order().clone(),
        groups,
        durations: expected(plan.n_instances(), durations),
        nodes: plan.nodes.to_vec(),
        options,
    };
    (draft, defects)
}

/// All nodes that have something to do, of which some may fail. None of them is left among those that may not.
fn whole_run(text: &str, instances: &[DraftInstance]) -> Result<Group, Defect> {
    let busy = instances.iter().filter(|instance| instance.work.is_some());
    let nodes: BTreeSet<u32> = busy.map(|instance| instance.node).collect();
    let tolerated = tolerated_nodes(text, nodes.len() as u64)
        .ok_or_else(|| Defect::BadTolerance { found: text.to_owned() })?;
    Ok(Group { name: WHOLE_RUN.to_owned(), nodes: nodes.into_iter().collect(), tolerated })
}

/// What history does not know is taken to last as long as what it knows, on average.
fn expected(n_instances: usize, durations: &[Option<u32>]) -> Vec<u32> {
    let known: Vec<u64> = durations.iter().flatten().map(|ms| u64::from(*ms)).collect();
    if known.is_empty() {
        return Vec::new();
    }
    let mean = (known.iter().sum::<u64>() / known.len() as u64).max(1) as u32;
    (0..n_instances).map(|idx| durations.get(idx).copied().flatten().unwrap_or(mean).max(1)).collect()
}

struct Reading<'r, T> {
    options: &'r Options,
    master: Option<u32>,
    timing: T,
    defects: Vec<Defect>,
}

impl<T: Fn(&str) -> Option<Timing>> Reading<'_, T> {
    fn work(&mut self, instance: &Instance<'_>, details: &Details, node: u32) -> Option<Work> {
        let Some(timing) = (self.timing)(&details.task_type) else {
            let (task, task_type) = (instance.task.to_owned(), details.task_type.clone());
            let defect = Defect::UnknownType { task, task_type };
            // Once for all nodes.
            if self.defects.last() != Some(&defect) {
                self.defects.push(defect);
            }
            return None;
        };
        let executor = match timing.runs_on {
            RunsOn::Node => node,
            RunsOn::Master => self.master.unwrap_or(NONE),
            RunsOn::Nowhere => return None,
        };
        let parameters = &details.parameters;
        let policy = Policy {
            timeout_ms: self.seconds(instance, parameters, "timeout").unwrap_or(timing.timeout_s * 1000),
            n_retries: self.count(instance, parameters).unwrap_or(timing.n_retries),
            interval_ms: self.seconds(instance, parameters, "interval").unwrap_or(timing.interval_s * 1000),
            // Nothing was touched, so nothing can have been broken.
            fail_on_error: details.fail_on_error && self.options.mode == Mode::Normal,
            retry_interrupted: self
                .flag(instance, parameters)
                .or(self.options.retry_interrupted)
                .unwrap_or(timing.is_idempotent),
        };
        Some(Work { executor, policy, limit: self.limit(instance, parameters.get("strategy")) })
    }

    fn seconds(&mut self, instance: &Instance<'_>, parameters: &Json, name: &'static str) -> Option<u64> {
        let found = parameters.get(name).filter(|found| !found.is_null())?;
        let milliseconds = timing::milliseconds(found);
        if milliseconds.is_none() {
            self.bad(instance, name, found, "a number of seconds, at most a year");
        }
        milliseconds
    }

    fn count(&mut self, instance: &Instance<'_>, parameters: &Json) -> Option<u32> {
        let found = parameters.get("retries").filter(|found| !found.is_null())?;
        let count = timing::retries(found);
        if count.is_none() {
            self.bad(instance, "retries", found, "a whole number, at most 1000");
        }
        count
    }

    fn flag(&mut self, instance: &Instance<'_>, parameters: &Json) -> Option<bool> {
        let found = parameters.get("retry_interrupted").filter(|found| !found.is_null())?;
        if !found.is_boolean() {
            self.bad(instance, "retry_interrupted", found, "true or false");
        }
        found.as_bool()
    }

    fn limit(&mut self, instance: &Instance<'_>, strategy: Option<&Json>) -> Option<u32> {
        let strategy = strategy.filter(|strategy| !strategy.is_null())?;
        let amount = strategy.get("amount").filter(|amount| !amount.is_null());
        let limit = match strategy.get("type").and_then(Json::as_str) {
            Some("one_by_one") => Some(Some(1)),
            Some("parallel") => amount.map_or(Some(None), |amount| {
                let amount = amount.as_u64()?;
                Some(Some(u32::try_from(amount).unwrap_or(u32::MAX)))
            }),
            _ => None,
        };
        if limit.is_none() {
            self.defects.push(Defect::BadStrategy {
                task: instance.task.to_owned(),
                node: instance.node.to_owned(),
                found: strategy.to_string(),
            });
        }
        limit.flatten()
    }

    fn bad(&mut self, instance: &Instance<'_>, name: &'static str, found: &Json, wanted: &'static str) {
        self.defects.push(Defect::BadParameter {
            task: instance.task.to_owned(),
            node: instance.node.to_owned(),
            name,
            found: found.to_string(),
            wanted,
        });
    }
}
