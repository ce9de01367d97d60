//! Explanations of single instances.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use stoker_graph::NamePattern;
use stoker_model::{Json, NodeIdx, Task, TaskIdx};
use stoker_state::{Document, Doubt, MASTER, SYNC};
use stoker_yaql::Options;

use super::decide::{Absence, Case, Decision};
use super::differences::{DiffSource, Difference, DifferenceCache};
use crate::compute::evaluator::Evaluator;
use crate::compute::expressions::{ExpressionIdx, Expressions};
use crate::compute::subjects::{Applied, SubjectIdx, Subjects};
use crate::definition::{CONDITION, REFRESH_ON, condition_text};
use crate::fingerprint::redefinitions;
use crate::input::{PlanningInput, SettledDocuments};
use crate::plan::{Instance, Plan, Verdict};
use crate::settings::{eval_settings, options_of};
use crate::steady::{ComparedInputs, InstanceNode, TaskInstances, compare_inputs};
use crate::yaql_ext::inputs_changed::InputsState;

/// Why an instance runs or is skipped.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Explanation {
    pub verdict: Verdict,
    /// Source text of the deciding parts of the condition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decided_by: Vec<String>,
    /// Differences between the old and the new state that decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    text: String,
}

impl Explanation {
    pub(super) fn rewrite(&mut self, rewrite_text: impl Fn(&str) -> String) {
        let sides =
            self.differences.iter_mut().flat_map(|difference| [&mut difference.old, &mut difference.new]);
        for text in sides.flatten().chain([&mut self.text]) {
            *text = rewrite_text(text);
        }
    }
}

/// One lowercase sentence without a trailing period.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Old state that decided an instance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct DecisionBasis {
    pub(super) doubt: Option<Doubt>,
    /// Whether the applied state counted although it is in doubt.
    pub(super) is_fallback: bool,
    pub(super) inputs: CaseInputs,
}

/// Value of `inputsChanged()` for one instance; `Unavailable` if the parameters could not be rendered or the condition
/// does not call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CaseInputs {
    Unavailable,
    Unchanged,
    Changed,
}

impl CaseInputs {
    pub(super) fn of(compared: Option<&ComparedInputs>, position: usize) -> Self {
        let Some(compared) = compared else { return Self::Unavailable };
        match compared.states[compared.state_of[position] as usize] {
            InputsState::Unchanged => Self::Unchanged,
            InputsState::Changed => Self::Changed,
            InputsState::Failed(_) | InputsState::Unavailable => Self::Unavailable,
        }
    }

    fn state(self) -> InputsState {
        match self {
            Self::Unavailable => InputsState::Unavailable,
            Self::Unchanged => InputsState::Unchanged,
            Self::Changed => InputsState::Changed,
        }
    }
}

pub(super) struct SecondDecision {
    pub(super) subject_idx: SubjectIdx,
    pub(super) basis: DecisionBasis,
}

/// Explains the instances of a plan. Must be created from the input that the plan was created from.
pub struct Explainer<'a> {
    pub(super) tasks: HashMap<&'a str, (TaskIdx, &'a Task)>,
    pub(super) nodes: HashMap<String, NodeIdx>,
    pub(super) evaluator: Evaluator<'a>,
    pub(super) conditions: HashMap<TaskIdx, ExpressionIdx>,
    input: PlanningInput<'a>,
    /// The state after the run, if a condition compares inputs.
    settled: Option<SettledDocuments>,
    difference_cache: DifferenceCache,
}

impl<'a> Explainer<'a> {
    /// `options` must come from [`Explainer::options`].
    pub fn new(input: &PlanningInput<'a>, plan: &Plan, options: &'a Options) -> Self {
        let tasks: HashMap<&str, (TaskIdx, &Task)> = TaskIdx::first(input.tasks.len())
            .zip(input.tasks)
            .map(|(task_idx, task)| (task.name.as_str(), (task_idx, task)))
            .collect();
        let indices = tasks.iter().map(|(name, (task_idx, _))| (*name, *task_idx)).collect();
        let mut expressions = Expressions::new(input.library.clone());
        let mut conditions = HashMap::new();
        for (task_idx, task) in tasks.values() {
            if let Some(text) = condition_text(task) {
                conditions.insert(*task_idx, expressions.add(text));
            }
        }
        let mut documents: Vec<(&str, Document)> =
            input.nodes.iter().map(|node| (node.uid.as_str(), node.document.clone())).collect();
        documents.push((MASTER, input.master.clone()));
        documents.push((SYNC, Document::default()));
        let states = if input.request.force { None } else { input.old };
        let applied = Applied { states, redefinitions: &redefinitions(input) };
        let subjects = Subjects::new(&input.common, &documents, &indices, applied);
        let nodes =
            documents.iter().map(|(uid, _)| (*uid).to_owned()).zip(NodeIdx::first(documents.len())).collect();
        let evaluator = Evaluator::new(
            eval_settings(input, options),
            subjects,
            expressions,
            input.settings.n_threads.max(1),
        );
        let compares_inputs = evaluator.expressions.all.iter().any(|expression| expression.uses_inputs);
        let settled = compares_inputs.then(|| {
            let occupied = plan.tasks.iter().flat_map(|task| task.nodes.iter());
            input.after_run.documents(&occupied.map(|node_idx| &*plan.nodes[node_idx.index()]).collect())
        });
        Self {
            tasks,
            nodes,
            evaluator,
            conditions,
            input: input.clone(),
            settled: settled.flatten(),
            difference_cache: DifferenceCache::new(DiffSource::State),
        }
    }

    /// The evaluation options for an input.
    pub fn options(input: &PlanningInput<'_>) -> Options {
        options_of(input)
    }

    pub fn explain(&self, instance: &Instance<'_>) -> Explanation {
        match self.decision(instance) {
            Some(decision) => explanation(instance.verdict, decision),
            None => self.explain_without_evaluation(instance),
        }
    }

    fn decision(&self, instance: &Instance<'_>) -> Option<Decision> {
        let task_idx = self.task_with_computed_condition(instance)?;
        let node_idx = *self.nodes.get(instance.node)?;
        let subject_idx = self.evaluator.subjects.of(task_idx, node_idx);
        let compared = self.compare_inputs(task_idx, &[instance.node]);
        let basis = DecisionBasis {
            inputs: CaseInputs::of(compared.as_ref(), 0),
            ..self.first_basis(task_idx, node_idx)
        };
        match self.second_decision(task_idx, node_idx, instance.verdict) {
            Some(second) if !self.holds(task_idx, subject_idx, &basis) => {
                self.decision_for(task_idx, second.subject_idx, &second.basis)
            }
            _ => self.decision_for(task_idx, subject_idx, &basis),
        }
    }

    pub(super) fn first_basis(&self, task_idx: TaskIdx, node_idx: NodeIdx) -> DecisionBasis {
        let doubt = self.evaluator.subjects.doubt(task_idx, node_idx).map(|(doubt, _)| doubt);
        DecisionBasis { doubt, is_fallback: false, inputs: CaseInputs::Unavailable }
    }

    /// The applied state that may have decided an instance in doubt: it runs if its condition holds with or without it.
    pub(super) fn second_decision(
        &self,
        task_idx: TaskIdx,
        node_idx: NodeIdx,
        verdict: Verdict,
    ) -> Option<SecondDecision> {
        let condition = *self.conditions.get(&task_idx)?;
        if verdict != Verdict::ConditionHolds || !self.evaluator.expressions.all[condition as usize].reads_old
        {
            return None;
        }
        let (doubt, retained) = self.evaluator.subjects.doubt(task_idx, node_idx)?;
        Some(SecondDecision {
            subject_idx: retained?,
            basis: DecisionBasis { doubt: Some(doubt), is_fallback: true, inputs: CaseInputs::Changed },
        })
    }

    /// Compares the inputs of a task on nodes if its condition may depend on them.
    pub(super) fn compare_inputs(&self, task_idx: TaskIdx, uids: &[&str]) -> Option<ComparedInputs> {
        let condition = *self.conditions.get(&task_idx)?;
        if !self.evaluator.expressions.all[condition as usize].uses_inputs {
            return None;
        }
        let task = self.input.tasks.get(task_idx.index())?;
        let node = |uid| {
            let node_idx = self.nodes.get(uid);
            let applied = node_idx.and_then(|node_idx| self.evaluator.subjects.applied(task_idx, *node_idx));
            InstanceNode { uid, applied }
        };
        let instances = TaskInstances { task, nodes: uids.iter().copied().map(node).collect() };
        compare_inputs(&self.input, &[instances], self.settled.as_ref()).pop()
    }

    /// Whether the condition of a task holds for a subject.
    pub(super) fn holds(&self, task_idx: TaskIdx, subject_idx: SubjectIdx, basis: &DecisionBasis) -> bool {
        let condition = self.conditions.get(&task_idx);
        condition
            .and_then(|condition| {
                self.evaluator.evaluate_with(*condition, subject_idx, &basis.inputs.state()).ok()
            })
            .is_some_and(|value| value.is_true())
    }

    /// The task index, if the instance was decided by a computed condition.
    pub(super) fn task_with_computed_condition(&self, instance: &Instance<'_>) -> Option<TaskIdx> {
        let is_by_condition = matches!(instance.verdict, Verdict::ConditionHolds | Verdict::ConditionFails);
        let (task_idx, _) = *self.tasks.get(instance.task).filter(|_| is_by_condition)?;
        self.conditions.contains_key(&task_idx).then_some(task_idx)
    }

    pub(super) fn decision_for(
        &self,
        task_idx: TaskIdx,
        subject_idx: SubjectIdx,
        basis: &DecisionBasis,
    ) -> Option<Decision> {
        let expression_idx = *self.conditions.get(&task_idx)?;
        let compiled = &self.evaluator.expressions.all[expression_idx as usize];
        let expression = compiled.expression.as_ref().ok()?;
        let subjects = &self.evaluator.subjects;
        let mut documents = match &compiled.keys {
            Some(keys) => subjects.excerpt(subject_idx, &keys.iter().map(String::as_str).collect::<Vec<_>>()),
            None => subjects.documents(subject_idx),
        };
        documents.inputs = basis.inputs.state();
        let subject = &subjects.all[subject_idx as usize];
        let case = Case {
            settings: &self.evaluator.settings,
            common: subjects.common.value(),
            documents: &documents,
            own: subject.own.value(),
            absence: match (&subject.old, &basis.doubt) {
                (Some(_), _) => None,
                (None, Some(doubt)) => Some(Absence::Doubt(doubt.clone())),
                (None, None) if self.input.request.force => Some(Absence::Forced),
                (None, None) => Some(Absence::Never),
            },
            expression,
            differences: &self.difference_cache,
        };
        let mut decision = case.decide(expression.root()).ok()?;
        if basis.is_fallback
            && let Some(last) = decision.sentences.last_mut()
        {
            last.push_str(" (compared with the state before the last attempt)");
        }
        Some(decision)
    }

    /// An explanation that is independent of the node.
    pub(super) fn explain_without_evaluation(&self, instance: &Instance<'_>) -> Explanation {
        let verdict = instance.verdict;
        let text = match verdict {
            Verdict::ConditionHolds | Verdict::ConditionFails => self.plain_condition(instance),
            Verdict::IfTriggered => match self.triggers(instance) {
                Some(triggers) => format!("it runs if {triggers} changes something"),
                None => verdict.to_string(),
            },
            _ => verdict.to_string(),
        };
        Explanation { verdict, decided_by: Vec::new(), differences: Vec::new(), text }
    }

    /// The triggers of a handler, if they are literal. Entries that match no task are not triggers.
    fn triggers(&self, instance: &Instance<'_>) -> Option<String> {
        let (_, task) = self.tasks.get(instance.task)?;
        let name = |entry: &'a Json| entry.get("name").unwrap_or(entry).as_str();
        let names: Vec<&str> = task.field(REFRESH_ON)?.as_array()?.iter().map(name).collect::<Option<_>>()?;
        let matches_task = |name: &&str| match NamePattern::new(name) {
            Ok(NamePattern::Exact(exact)) => self.tasks.contains_key(exact),
            Ok(pattern) => self.tasks.keys().any(|task| pattern.matches(task)),
            Err(_) => false,
        };
        let names: Vec<String> =
            names.into_iter().filter(matches_task).map(|name| format!("`{name}`")).collect();
        let (last, first) = names.split_last()?;
        Some(if first.is_empty() { last.clone() } else { format!("{} or {last}", first.join(", ")) })
    }

    /// Explains a literal or legacy condition.
    fn plain_condition(&self, instance: &Instance<'_>) -> String {
        let condition = self.tasks.get(instance.task).and_then(|(_, task)| task.field(CONDITION));
        match condition {
            Some(Json::String(text)) => {
                format!("the condition `{text}` is {}", instance.verdict == Verdict::ConditionHolds)
            }
            Some(Json::Bool(flag)) => format!("the condition is {flag}"),
            _ => instance.verdict.to_string(),
        }
    }
}

pub(super) fn explanation(verdict: Verdict, decision: Decision) -> Explanation {
    let text = decision.sentences.join("; ");
    Explanation { verdict, decided_by: decision.parts, differences: decision.differences, text }
}
