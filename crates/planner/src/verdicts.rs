//! Whether instances run.

use stoker_conditions::{ConditionError, rewrite_for_deployment};
use stoker_model::{Json, TaskType};
use stoker_yaql::Span;

use crate::compute::evaluator::Evaluator;
use crate::compute::subjects::TaskIdx;
use crate::definition::{CONDITION, Definition, Kind, TYPE};
use crate::fields::{Work, compute};
use crate::json::is_true;
use crate::legacy::Legacy;
use crate::plan::Verdict;
use crate::problem::{Problem, Report, codes};
use crate::wiring::Layout;

pub(crate) struct Judging<'j, 'a> {
    pub(crate) definitions: &'j [Definition<'a>],
    pub(crate) kinds: &'j [Kind],
    pub(crate) layout: &'j Layout,
    /// By task whether it was asked for.
    pub(crate) is_selected: &'j [bool],
}

/// Judges all instances.
pub(crate) fn judge(
    judging: &Judging<'_, '_>,
    evaluator: &mut Evaluator<'_>,
    uids: &[String],
    report: &mut Report,
) -> Vec<Verdict> {
    let layout = judging.layout;
    let mut verdicts = vec![Verdict::NoCondition; layout.n_instances() as usize];
    let mut works = Vec::new();
    for (task_idx, definition) in judging.definitions.iter().enumerate() {
        let instances = layout.first[task_idx] as usize..layout.first[task_idx + 1] as usize;
        match judging.known(task_idx) {
            Some(verdict) => verdicts[instances].fill(verdict),
            None if instances.is_empty() => {}
            None => works.push(Work {
                task_idx: task_idx as TaskIdx,
                name: definition.name,
                nodes: layout.nodes[task_idx].clone(),
                fields: [(TYPE, Some(&definition.task_type)), (CONDITION, definition.condition.as_ref())]
                    .into_iter()
                    .filter_map(|(field, template)| Some((field, template?)))
                    .collect(),
            }),
        }
    }
    let mut older = Legacy::default();
    for done in compute(works, evaluator, uids, report) {
        let task_idx = done.task_idx as usize;
        let first = layout.first[task_idx] as usize;
        let by_class: Vec<Outcome<'_>> = done.values.iter().map(|values| outcome(values)).collect();
        for (place, node_idx) in done.nodes.iter().enumerate() {
            verdicts[first + place] = match &by_class[done.classes.class(place)] {
                Outcome::Known(verdict) => *verdict,
                Outcome::Legacy(text) => {
                    let subject_idx = evaluator.subjects.of(done.task_idx, *node_idx);
                    let document = evaluator.subjects.documents(subject_idx).new;
                    let name = judging.definitions[task_idx].name;
                    match older.holds(text, &document) {
                        Ok(holds) => of_truth(holds),
                        Err(error) => {
                            complain(&error, text, name, &uids[*node_idx as usize], report);
                            Verdict::ConditionFails
                        }
                    }
                }
            };
        }
    }
    verdicts
}

impl Judging<'_, '_> {
    /// The verdict that holds without looking at any node.
    fn known(&self, task_idx: usize) -> Option<Verdict> {
        let definition = &self.definitions[task_idx];
        let word = definition.task_type.fixed().and_then(Json::as_str);
        match self.kinds[task_idx] {
            Kind::Stage => return Some(Verdict::Stage),
            Kind::Group => return Some(Verdict::TypeSkipped),
            Kind::Ordinary => {}
        }
        if matches!(word.and_then(TaskType::parse), Some(TaskType::Skipped | TaskType::Noop)) {
            return Some(Verdict::TypeSkipped);
        }
        if !self.is_selected[task_idx] {
            return Some(Verdict::TaskNotSelected);
        }
        let is_type_known = definition.task_type.fixed().is_some();
        (definition.condition.is_none() && is_type_known).then_some(Verdict::NoCondition)
    }
}

enum Outcome<'v> {
    Known(Verdict),
    /// A condition in the older notation.
    Legacy(&'v str),
}

/// From the type and the condition, if there is one.
fn outcome(values: &[Option<Json>]) -> Outcome<'_> {
    let word = values.first().and_then(Option::as_ref).and_then(Json::as_str);
    if matches!(word.and_then(TaskType::parse), Some(TaskType::Skipped | TaskType::Noop | TaskType::Stage)) {
        return Outcome::Known(Verdict::TypeSkipped);
    }
    match values.get(1) {
        None => Outcome::Known(Verdict::NoCondition),
        // It failed, and there will be no plan.
        Some(None) => Outcome::Known(Verdict::ConditionFails),
        Some(Some(Json::String(text))) if !text.is_empty() => Outcome::Legacy(text),
        Some(Some(value)) => Outcome::Known(of_truth(is_true(value))),
    }
}

fn of_truth(is_true: bool) -> Verdict {
    if is_true { Verdict::ConditionHolds } else { Verdict::ConditionFails }
}

/// Reports a condition that makes no sense once, with all nodes where it makes none.
fn complain(error: &ConditionError, text: &str, task: &str, uid: &str, report: &mut Report) {
    let is_same =
        |known: &&mut Problem| known.task.as_deref() == Some(task) && known.message == error.message;
    if let Some(known) = report.problems.iter_mut().find(is_same) {
        known.nodes.push(uid.to_owned());
        return;
    }
    let problem = Problem::error(codes::CONDITION, error.message.clone()).help(error.help.clone());
    let text = rewrite_for_deployment(text);
    let place = Some((text, Span::new(error.span.start, error.span.end)));
    report.push(Problem { place, ..problem.at(task, CONDITION).on(vec![uid.to_owned()]) });
}
