//! Decides which instances run.

use std::collections::HashMap;

use stoker_conditions::{ConditionError, rewrite_for_deployment};
use stoker_diagnostics::Diagnostic;
use stoker_model::{Json, Task, TaskIdx, TaskType};

use crate::compute::evaluator::Evaluator;
use crate::compute::expressions::ExpressionIdx;
use crate::definition::{CONDITION, Definition, TYPE, TaskKind};
use crate::fields::{FieldWork, compute};
use crate::input::PlanningInput;
use crate::json::is_true;
use crate::legacy::LegacyConditions;
use crate::order_builder::Layout;
use crate::plan::Verdict;
use crate::report::{PlanningReport, codes};
use crate::steady::{ComparedInputs, InstanceNode, TaskInstances, compare_inputs};
use crate::yaql_ext::inputs_changed::InputsState;

pub(crate) struct VerdictInput<'j, 'a> {
    pub(crate) definitions: &'j [Definition<'a>],
    pub(crate) kinds: &'j [TaskKind],
    pub(crate) layout: &'j Layout,
    /// For each task, whether the request selects it.
    pub(crate) is_selected: &'j [bool],
    pub(crate) planning: &'j PlanningInput<'a>,
    /// In the order of `definitions`.
    pub(crate) tasks: &'j [&'a Task],
}

/// Verdicts by instance, and by task the compared inputs of its instances, if its condition depends on them.
pub(crate) struct Decided {
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) inputs: HashMap<TaskIdx, ComparedInputs>,
}

/// Decides the verdicts of all instances.
pub(crate) fn decide_verdicts(
    input: &VerdictInput<'_, '_>,
    evaluator: &mut Evaluator<'_>,
    uids: &[String],
    report: &mut PlanningReport,
) -> Decided {
    let layout = input.layout;
    let inputs = input.compare_inputs(evaluator, uids);
    let mut verdicts = vec![Verdict::NoCondition; layout.n_instances() as usize];
    let mut works = Vec::new();
    for (task_idx, definition) in input.definitions.iter().enumerate() {
        let instances = layout.first[task_idx] as usize..layout.first[task_idx + 1] as usize;
        match input.fixed_verdict(task_idx) {
            Some(verdict) => verdicts[instances].fill(verdict),
            None if instances.is_empty() => {}
            None => {
                let compared = inputs.get(&TaskIdx::at(task_idx));
                works.push(FieldWork {
                    nodes: layout.nodes[task_idx].clone(),
                    fields: [(TYPE, Some(&definition.task_type)), (CONDITION, definition.condition.as_ref())]
                        .into_iter()
                        .filter_map(|(field, template)| Some((field, template?)))
                        .collect(),
                    inputs: compared.map(|compared| compared.state_of.clone()),
                    input_states: compared.map(|compared| compared.states.clone()).unwrap_or_default(),
                    ..FieldWork::new(TaskIdx::at(task_idx), definition.name, &[])
                });
            }
        }
    }
    let mut legacy = LegacyConditions::default();
    for done in compute(works, evaluator, uids, report) {
        let task_idx = done.task_idx.index();
        let first = layout.first[task_idx] as usize;
        let by_class: Vec<Outcome<'_>> = done.values.iter().map(|values| outcome(values)).collect();
        for (position, node_idx) in done.nodes.iter().enumerate() {
            verdicts[first + position] = match &by_class[done.classes.class(position)] {
                Outcome::Decided(verdict) => *verdict,
                Outcome::Legacy(text) => {
                    let subject_idx = evaluator.subjects.of(done.task_idx, *node_idx);
                    let document = evaluator.subjects.documents(subject_idx).new;
                    let name = input.definitions[task_idx].name;
                    match legacy.holds(text, &document) {
                        Ok(holds) => of_truth(holds),
                        Err(error) => {
                            report_condition(&error, text, name, &uids[node_idx.index()], report);
                            Verdict::ConditionFails
                        }
                    }
                }
            };
        }
    }
    look_again(input, evaluator, uids, &mut verdicts, report);
    Decided { verdicts, inputs }
}

/// Decides instances in doubt a second time, with their applied state: a condition such as `deleted($.users)` is never
/// true without an old state, and a clean-up task that failed would never run again.
fn look_again(
    input: &VerdictInput<'_, '_>,
    evaluator: &mut Evaluator<'_>,
    uids: &[String],
    verdicts: &mut [Verdict],
    report: &mut PlanningReport,
) {
    if !evaluator.subjects.has_doubts() {
        return;
    }
    let mut works = Vec::new();
    for (task_idx, definition) in input.definitions.iter().enumerate() {
        let Some(condition) = &definition.condition else { continue };
        let reads_old =
            |(_, idx): &(String, ExpressionIdx)| evaluator.expressions.all[*idx as usize].reads_old;
        if input.fixed_verdict(task_idx).is_some() || !condition.expressions(CONDITION).iter().any(reads_old)
        {
            continue;
        }
        let first = input.layout.first[task_idx] as usize;
        let (mut nodes, mut subjects) = (Vec::new(), Vec::new());
        for (position, node_idx) in input.layout.nodes[task_idx].iter().enumerate() {
            if verdicts[first + position] == Verdict::ConditionFails
                && let Some((_, Some(retained))) = evaluator.subjects.doubt(TaskIdx::at(task_idx), *node_idx)
            {
                nodes.push(*node_idx);
                subjects.push(retained);
            }
        }
        if !nodes.is_empty() {
            let fields = [(TYPE, &definition.task_type), (CONDITION, condition)];
            works.push(FieldWork {
                // The inputs of an instance in doubt count as changed.
                inputs: Some(vec![0; nodes.len()].into()),
                input_states: [InputsState::Changed].into(),
                nodes: nodes.into(),
                subjects: Some(subjects.into()),
                ..FieldWork::new(TaskIdx::at(task_idx), definition.name, &fields)
            });
        }
    }
    for done in compute(works, evaluator, uids, report) {
        let own = &input.layout.nodes[done.task_idx.index()];
        let first = input.layout.first[done.task_idx.index()] as usize;
        for (position, node_idx) in done.nodes.iter().enumerate() {
            let Outcome::Decided(Verdict::ConditionHolds) =
                outcome(&done.values[done.classes.class(position)])
            else {
                continue;
            };
            verdicts[first + own.partition_point(|other| other < node_idx)] = Verdict::ConditionHolds;
            evaluator.subjects.use_retained(done.task_idx, *node_idx);
        }
    }
}

impl VerdictInput<'_, '_> {
    /// Compares the inputs of all instances whose condition may depend on them.
    fn compare_inputs(&self, evaluator: &Evaluator<'_>, uids: &[String]) -> HashMap<TaskIdx, ComparedInputs> {
        let uses_inputs = |task_idx: usize| {
            let condition = self.definitions[task_idx].condition.as_ref();
            let mut expressions =
                condition.into_iter().flat_map(|condition| condition.expressions(CONDITION));
            expressions.any(|(_, idx)| evaluator.expressions.all[idx as usize].uses_inputs)
                && !self.layout.nodes[task_idx].is_empty()
                && self.fixed_verdict(task_idx).is_none()
        };
        let tasks: Vec<usize> =
            (0..self.definitions.len()).filter(|task_idx| uses_inputs(*task_idx)).collect();
        let instances = |task_idx: &usize| TaskInstances {
            task: self.tasks[*task_idx],
            nodes: self.layout.nodes[*task_idx]
                .iter()
                .map(|node_idx| InstanceNode {
                    uid: &uids[node_idx.index()],
                    applied: evaluator.subjects.applied(TaskIdx::at(*task_idx), *node_idx),
                })
                .collect(),
        };
        let requested: Vec<TaskInstances<'_>> = tasks.iter().map(instances).collect();
        if requested.is_empty() {
            return HashMap::new();
        }
        let occupied = self.layout.nodes.iter().flat_map(|nodes| nodes.iter());
        let occupied = occupied.map(|node_idx| &*uids[node_idx.index()]).collect();
        let settled = self.planning.after_run.documents(&occupied);
        let compared = compare_inputs(self.planning, &requested, settled.as_ref());
        tasks.iter().map(|task_idx| TaskIdx::at(*task_idx)).zip(compared).collect()
    }

    /// The verdict if it does not depend on the node.
    fn fixed_verdict(&self, task_idx: usize) -> Option<Verdict> {
        let definition = &self.definitions[task_idx];
        let type_name = definition.task_type.fixed().and_then(Json::as_str);
        match self.kinds[task_idx] {
            TaskKind::Stage => return Some(Verdict::Stage),
            TaskKind::Group => return Some(Verdict::TypeSkipped),
            TaskKind::Ordinary => {}
        }
        if matches!(type_name.and_then(TaskType::parse), Some(TaskType::Skipped | TaskType::Noop)) {
            return Some(Verdict::TypeSkipped);
        }
        if !self.is_selected[task_idx] {
            return Some(Verdict::TaskNotSelected);
        }
        let is_type_known = definition.task_type.fixed().is_some();
        (definition.condition.is_none() && is_type_known).then_some(Verdict::NoCondition)
    }
}

pub(crate) enum Outcome<'v> {
    Decided(Verdict),
    /// A condition in the legacy notation.
    Legacy(&'v str),
}

/// The outcome for the computed type and, if the task has one, condition.
pub(crate) fn outcome(values: &[Option<Json>]) -> Outcome<'_> {
    let type_name = values.first().and_then(Option::as_ref).and_then(Json::as_str);
    if matches!(
        type_name.and_then(TaskType::parse),
        Some(TaskType::Skipped | TaskType::Noop | TaskType::Stage)
    ) {
        return Outcome::Decided(Verdict::TypeSkipped);
    }
    match values.get(1) {
        None => Outcome::Decided(Verdict::NoCondition),
        // The evaluation failed and is reported as an error, so there will be no plan.
        Some(None) => Outcome::Decided(Verdict::ConditionFails),
        Some(Some(Json::String(text))) if !text.is_empty() => Outcome::Legacy(text),
        Some(Some(value)) => Outcome::Decided(of_truth(is_true(value))),
    }
}

pub(crate) fn of_truth(is_true: bool) -> Verdict {
    if is_true { Verdict::ConditionHolds } else { Verdict::ConditionFails }
}

/// Reports an invalid legacy condition once, with all nodes on which it fails.
pub(crate) fn report_condition(
    error: &ConditionError,
    text: &str,
    task: &str,
    uid: &str,
    report: &mut PlanningReport,
) {
    let is_duplicate = |problem: &&mut Diagnostic| {
        problem.location.task.as_deref() == Some(task) && problem.message == error.message
    };
    if let Some(problem) = report.problems.iter_mut().find(is_duplicate) {
        problem.location.nodes.push(uid.to_owned());
        return;
    }
    let problem = Diagnostic::error(codes::CONDITION, error.message.clone()).help_if(error.help.clone());
    let problem = problem.expression(&rewrite_for_deployment(text), error.span.clone());
    report.push(problem.task(task, CONDITION).nodes(vec![uid.to_owned()]));
}
