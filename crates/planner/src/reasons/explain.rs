//! Reasons of instances.

use std::collections::HashMap;
use std::fmt;

use stoker_model::{Json, Task};
use stoker_yaql::Options;

use super::decide::{Case, Decided};
use super::differences::Difference;
use crate::compute::evaluator::Evaluator;
use crate::compute::expressions::{ExpressionIdx, Expressions};
use crate::compute::subjects::{NodeIdx, Subjects, TaskIdx};
use crate::definition::CONDITION;
use crate::input::PlanningInput;
use crate::plan::{Instance, Verdict};
use crate::planning::{options_of, setting};
use crate::state::{Document, MASTER, SYNC};

/// Why an instance runs or is skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    pub verdict: Verdict,
    /// The parts of the condition that decided, as they are written.
    pub decided_by: Vec<String>,
    /// What differs between the old and the new state, as far as it decided.
    pub differences: Vec<Difference>,
    text: String,
}

/// One sentence without its full stop.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Explains the instances of a plan that was made from the same input.
pub struct Explainer<'a> {
    tasks: HashMap<&'a str, (TaskIdx, &'a Task)>,
    nodes: HashMap<String, NodeIdx>,
    evaluator: Evaluator<'a>,
    conditions: HashMap<TaskIdx, ExpressionIdx>,
}

impl<'a> Explainer<'a> {
    /// `options` are those of [`Explainer::options`].
    pub fn new(input: &PlanningInput<'a>, options: &'a Options) -> Self {
        let tasks: HashMap<&str, (TaskIdx, &Task)> = (0_u32..)
            .zip(input.tasks)
            .map(|(task_idx, task)| (task.name.as_str(), (task_idx, task)))
            .collect();
        let indices = tasks.iter().map(|(name, (task_idx, _))| (*name, *task_idx)).collect();
        let mut expressions = Expressions::new(input.library.clone());
        let mut conditions = HashMap::new();
        for (task_idx, task) in tasks.values() {
            if let Some(text) = computed_condition(task) {
                conditions.insert(*task_idx, expressions.add(text));
            }
        }
        let mut documents: Vec<(&str, Document)> =
            input.nodes.iter().map(|node| (node.uid.as_str(), node.document.clone())).collect();
        documents.push((MASTER, input.master.clone()));
        documents.push((SYNC, Document::default()));
        let old = if input.request.force { None } else { input.old };
        let subjects = Subjects::new(&input.common, &documents, &indices, old);
        let nodes = documents.iter().map(|(uid, _)| (*uid).to_owned()).zip(0_u32..).collect();
        let evaluator = Evaluator::new(setting(input, options), subjects, expressions, 1);
        Self { tasks, nodes, evaluator, conditions }
    }

    /// How far evaluations may go for some input.
    pub fn options(input: &PlanningInput<'_>) -> Options {
        options_of(input)
    }

    pub fn explain(&self, instance: &Instance<'_>) -> Explanation {
        let plain = |text: String| Explanation {
            verdict: instance.verdict,
            decided_by: Vec::new(),
            differences: Vec::new(),
            text,
        };
        if !matches!(instance.verdict, Verdict::ConditionHolds | Verdict::ConditionFails) {
            return plain(instance.verdict.to_string());
        }
        match self.decided(instance) {
            Some(decided) => Explanation {
                text: decided.words.join("; "),
                decided_by: decided.parts,
                differences: decided.differences,
                verdict: instance.verdict,
            },
            None => plain(self.plain_condition(instance)),
        }
    }

    fn decided(&self, instance: &Instance<'_>) -> Option<Decided> {
        let (task_idx, _) = *self.tasks.get(instance.task)?;
        let expression_idx = *self.conditions.get(&task_idx)?;
        let compiled = &self.evaluator.expressions.all[expression_idx as usize];
        let expression = compiled.expression.as_ref().ok()?;
        let subjects = &self.evaluator.subjects;
        let subject_idx = subjects.of(task_idx, *self.nodes.get(instance.node)?);
        let documents = match &compiled.keys {
            Some(keys) => subjects.excerpt(subject_idx, &keys.iter().map(String::as_str).collect::<Vec<_>>()),
            None => subjects.documents(subject_idx),
        };
        let subject = &subjects.all[subject_idx as usize];
        let case = Case {
            setting: &self.evaluator.setting,
            common: subjects.common.value(),
            documents: &documents,
            own: subject.own.value(),
            has_past: subject.old.is_some(),
            expression,
        };
        case.decide(expression.root()).ok()
    }

    /// A condition that is no expression.
    fn plain_condition(&self, instance: &Instance<'_>) -> String {
        let condition = self.tasks.get(instance.task).and_then(|(_, task)| task.field(CONDITION));
        match condition {
            Some(Json::String(text)) => {
                format!("its condition `{text}` is {}", instance.verdict == Verdict::ConditionHolds)
            }
            Some(Json::Bool(flag)) => format!("its condition is {flag}"),
            _ => instance.verdict.to_string(),
        }
    }
}

fn computed_condition(task: &Task) -> Option<&str> {
    task.field(CONDITION)?.get("yaql_exp")?.as_str()
}
