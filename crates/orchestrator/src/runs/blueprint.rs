//! Builds the blueprint of a run from a plan. It is here because neither the planner nor the engine knows the other.

use std::collections::{BTreeSet, HashMap};

use stoker_engine::blueprint::{
    Blueprint, Defect, Draft, DraftInstance, DraftWork, ExecutionOptions, Executor, Group, Handlers, Policy,
    TypeDefaults, WHOLE_RUN,
};
use stoker_engine::session::Mode;
use stoker_model::{Json, NodeIdx, StrategyType, TaskIdx};
use stoker_planner::{Details, Instance, InstanceAction, Plan, Verdict, parse_fault_tolerance, timing};
use stoker_state::{MASTER, SYNC};

/// Builds and validates the blueprint of a plan.
///
/// `durations` are the expected durations by instance in milliseconds, where history has them. `timing`
/// returns the defaults of a task type, or `None` for an unknown type.
pub fn blueprint_of_plan(
    plan: &Plan,
    options: ExecutionOptions,
    durations: &[Option<u32>],
    timing: impl Fn(&str) -> Option<TypeDefaults>,
) -> Result<Blueprint, Vec<Defect>> {
    let (draft, mut defects) = draft_from_plan(plan, options, durations, timing);
    match Blueprint::new(draft) {
        Ok(blueprint) if defects.is_empty() => Ok(blueprint),
        Ok(_) => Err(defects),
        Err(others) => {
            defects.extend(others);
            Err(defects)
        }
    }
}

/// The draft before validation, with the defects found while reading the plan.
pub fn draft_from_plan(
    plan: &Plan,
    options: ExecutionOptions,
    durations: &[Option<u32>],
    timing: impl Fn(&str) -> Option<TypeDefaults>,
) -> (Draft, Vec<Defect>) {
    let node_idx: HashMap<&str, NodeIdx> =
        plan.nodes.iter().map(String::as_str).zip(NodeIdx::first(plan.nodes.len())).collect();
    let index_of = |uid: &str| node_idx.get(uid).copied();
    let mut reader = PlanReader { options: &options, master: index_of(MASTER), timing, defects: Vec::new() };
    let mut instances = Vec::with_capacity(plan.n_instances());
    for (task_idx, task) in TaskIdx::first(plan.tasks.len()).zip(&plan.tasks) {
        for (idx, node) in task.instances() {
            let work = plan.instance(idx).zip(plan.details(idx));
            let work = work.filter(|(instance, _)| instance.verdict.action() == InstanceAction::Run);
            let work = work.and_then(|(instance, details)| reader.work(&instance, details, node));
            instances.push(DraftInstance { task: task_idx, node, work });
        }
    }
    let mut defects = reader.defects;
    let groups = plan.groups.iter().map(|group| Group {
        name: group.name.clone(),
        nodes: group.nodes.iter().filter_map(|uid| index_of(uid)).collect(),
        tolerated: group.max_failed,
    });
    let mut groups: Vec<Group> = groups.collect();
    match options.fault_tolerance.as_deref().map(|text| whole_run_group(text, &instances)) {
        Some(Ok(group)) => groups.push(group),
        Some(Err(defect)) => defects.push(defect),
        None => {}
    }
    let draft = Draft {
        sync: index_of(SYNC),
        tasks: plan.tasks.iter().map(|task| task.name.clone()).collect(),
        instances,
        order: plan.order().clone(),
        groups,
        handlers: handlers(plan),
        durations: fill_durations(plan.n_instances(), durations),
        nodes: plan.nodes.to_vec(),
        options,
    };
    (draft, defects)
}

fn handlers(plan: &Plan) -> Handlers {
    let only_triggered = plan.instances().filter(|instance| instance.verdict == Verdict::IfTriggered);
    Handlers {
        triggers: plan.triggers().cloned(),
        only_triggered: only_triggered.map(|instance| instance.idx).collect(),
    }
}

/// Group of all nodes with work, with the run's fault tolerance. It covers them all, so none of them falls
/// into the zero-tolerance group.
fn whole_run_group(text: &str, instances: &[DraftInstance]) -> Result<Group, Defect> {
    let with_work = instances.iter().filter(|instance| instance.work.is_some());
    let nodes: BTreeSet<NodeIdx> = with_work.map(|instance| instance.node).collect();
    let tolerated = parse_fault_tolerance(text, nodes.len() as u64)
        .ok_or_else(|| Defect::InvalidTolerance { value: text.to_owned() })?;
    Ok(Group { name: WHOLE_RUN.to_owned(), nodes: nodes.into_iter().collect(), tolerated })
}

/// Expected duration of each instance. Unknown durations are replaced by the mean of the known ones.
fn fill_durations(n_instances: usize, durations: &[Option<u32>]) -> Vec<u32> {
    let known_ms: Vec<u64> = durations.iter().flatten().map(|ms| u64::from(*ms)).collect();
    if known_ms.is_empty() {
        return Vec::new();
    }
    let mean = (known_ms.iter().sum::<u64>() / known_ms.len() as u64).max(1) as u32;
    (0..n_instances).map(|idx| durations.get(idx).copied().flatten().unwrap_or(mean).max(1)).collect()
}

struct PlanReader<'r, T> {
    options: &'r ExecutionOptions,
    master: Option<NodeIdx>,
    timing: T,
    defects: Vec<Defect>,
}

impl<T: Fn(&str) -> Option<TypeDefaults>> PlanReader<'_, T> {
    fn work(&mut self, instance: &Instance<'_>, details: &Details, node: NodeIdx) -> Option<DraftWork> {
        let Some(timing) = (self.timing)(&details.task_type) else {
            let (task, task_type) = (instance.task.to_owned(), details.task_type.clone());
            let defect = Defect::UnknownType { task, task_type };
            // Report an unknown type once, not for each node.
            if self.defects.last() != Some(&defect) {
                self.defects.push(defect);
            }
            return None;
        };
        let executor = match timing.runs_on {
            Executor::Node => node,
            Executor::Master => {
                let Some(master) = self.master else {
                    self.defects.push(Defect::NoMaster { instance: instance.to_string() });
                    return None;
                };
                master
            }
            Executor::None => return None,
        };
        let parameters = &details.parameters;
        let policy = Policy {
            timeout_ms: self.seconds(instance, parameters, "timeout").unwrap_or(timing.timeout_s * 1000),
            n_retries: self.count(instance, parameters).unwrap_or(timing.n_retries),
            interval_ms: self.seconds(instance, parameters, "interval").unwrap_or(timing.interval_s * 1000),
            // A dry run changes nothing, so a failure does not affect the node.
            fail_on_error: details.fail_on_error && self.options.mode == Mode::Normal,
            retry_interrupted: self
                .flag(instance, parameters)
                .or(self.options.retry_interrupted)
                .unwrap_or(timing.is_idempotent),
        };
        Some(DraftWork { executor, policy, limit: self.limit(instance, parameters.get("strategy")) })
    }

    fn seconds(&mut self, instance: &Instance<'_>, parameters: &Json, name: &'static str) -> Option<u64> {
        let value = parameters.get(name).filter(|value| !value.is_null())?;
        let milliseconds = timing::parse_seconds_as_ms(value);
        if milliseconds.is_none() {
            self.report_parameter(instance, name, value, "a number of seconds, at most a year");
        }
        milliseconds
    }

    fn count(&mut self, instance: &Instance<'_>, parameters: &Json) -> Option<u32> {
        let value = parameters.get("retries").filter(|value| !value.is_null())?;
        let count = timing::parse_retries(value);
        if count.is_none() {
            self.report_parameter(instance, "retries", value, "an integer, at most 1000");
        }
        count
    }

    fn flag(&mut self, instance: &Instance<'_>, parameters: &Json) -> Option<bool> {
        let value = parameters.get("retry_interrupted").filter(|value| !value.is_null())?;
        if !value.is_boolean() {
            self.report_parameter(instance, "retry_interrupted", value, "true or false");
        }
        value.as_bool()
    }

    fn limit(&mut self, instance: &Instance<'_>, strategy: Option<&Json>) -> Option<u32> {
        let strategy = strategy.filter(|strategy| !strategy.is_null())?;
        let amount = strategy.get("amount").filter(|amount| !amount.is_null());
        let strategy_type = strategy.get("type").and_then(Json::as_str).and_then(StrategyType::parse);
        let limit = match strategy_type {
            Some(StrategyType::OneByOne) => Some(Some(1)),
            Some(StrategyType::Parallel) => amount.map_or(Some(None), |amount| {
                let amount = amount.as_u64()?;
                Some(Some(u32::try_from(amount).unwrap_or(u32::MAX)))
            }),
            None => None,
        };
        if limit.is_none() {
            self.defects.push(Defect::InvalidStrategy {
                task: instance.task.to_owned(),
                node: instance.node.to_owned(),
                value: strategy.to_string(),
            });
        }
        limit.flatten()
    }

    fn report_parameter(
        &mut self,
        instance: &Instance<'_>,
        name: &'static str,
        value: &Json,
        expected: &'static str,
    ) {
        self.defects.push(Defect::InvalidParameter {
            task: instance.task.to_owned(),
            node: instance.node.to_owned(),
            name,
            value: value.to_string(),
            expected,
        });
    }
}
