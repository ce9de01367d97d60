//! Explanations of all instances of a plan.
//!
//! Explaining evaluates parts of a condition, which is too expensive for each of a million instances. For all
//! nodes of an equivalence class the same part of the condition decides; their explanations differ only if
//! they show values of the nodes' own documents. So one instance is explained per class, or per distinct own
//! data that the explanation shows.

use std::collections::{BTreeSet, HashMap, HashSet};

use stoker_model::{InstanceIdx, TaskIdx};
use stoker_state::Document;
use stoker_yaql::Value;
use stoker_yaql::syntax::Node;
use stoker_yaql::value::ExactDigest;

use super::decide::Decision;
use super::explain::{CaseInputs, DecisionBasis, Explainer, Explanation, SecondDecision, explanation};
use crate::compute::classes::Classes;
use crate::compute::dependencies::{AspectKind, Document as Whose, dependencies};
use crate::compute::subjects::SubjectIdx;
use crate::differing::Keys;
use crate::input::PlanningInput;
use crate::plan::{Instance, Plan, PlannedTask};
use crate::yaql_ext::same::same;

/// Why each instance of a plan runs or is skipped; explanations are deduplicated.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Reasons {
    pub(crate) explanations: Vec<Explanation>,
    /// Indexed by instance.
    pub(crate) of: Vec<u32>,
}

impl Reasons {
    /// Explains a plan that was created from this input.
    pub fn new(input: &PlanningInput<'_>, plan: &Plan) -> Self {
        let options = Explainer::options(input);
        let mut explainer = Explainer::new(input, plan, &options);
        explainer.evaluator.n_threads = input.settings.n_threads.max(1);
        let mut works: Vec<TaskWork<'_>> =
            plan.tasks.iter().map(|task| TaskWork::new(&explainer, plan, task)).collect();
        for work in &works {
            if let Some(condition) = work.task_idx.and_then(|task_idx| explainer.conditions.get(&task_idx)) {
                explainer.evaluator.request(&[*condition], &work.subjects);
                let retained = work.second_decisions.iter().flatten().map(|second| second.subject_idx);
                explainer.evaluator.request(&[*condition], &retained.collect::<Vec<_>>());
            }
        }
        explainer.evaluator.compute_aspects();
        for work in &mut works {
            work.look_again(&explainer);
        }
        let own_keys = explainer.evaluator.subjects.own_keys();
        let explained = explainer
            .evaluator
            .in_parallel(works.len(), |work_idx| works[work_idx].explain(&explainer, &own_keys));
        let mut reasons = Self::default();
        let mut numbers_by_explanation: HashMap<Explanation, u32> = HashMap::new();
        for Explained { explanations, of } in explained {
            let numbers: Vec<u32> = explanations
                .into_iter()
                .map(|explanation| reasons.add(&mut numbers_by_explanation, explanation))
                .collect();
            reasons.of.extend(of.into_iter().flatten().map(|position| numbers[position as usize]));
        }
        reasons
    }

    fn add(&mut self, numbers: &mut HashMap<Explanation, u32>, explanation: Explanation) -> u32 {
        let next = self.explanations.len() as u32;
        *numbers.entry(explanation).or_insert_with_key(|explanation| {
            self.explanations.push(explanation.clone());
            next
        })
    }

    /// Rewrites all texts that contain data, so that callers can mask further secrets.
    pub fn mask_texts(&mut self, rewrite_text: impl Fn(&str) -> String) {
        for explanation in &mut self.explanations {
            explanation.rewrite(&rewrite_text);
        }
    }

    /// Why an instance runs or is skipped.
    pub fn of(&self, idx: InstanceIdx) -> Option<&Explanation> {
        self.explanations.get(*self.of.get(idx.index())? as usize)
    }

    /// The distinct explanations, in order of the first instance that has each.
    pub fn explanations(&self) -> &[Explanation] {
        &self.explanations
    }

    /// Index of an instance's explanation in [`Reasons::explanations`].
    pub fn explanation_idx(&self, idx: InstanceIdx) -> Option<u32> {
        self.of.get(idx.index()).copied()
    }
}

/// The instances of one task.
struct TaskWork<'p> {
    instances: Vec<Instance<'p>>,
    /// The task, if a computed condition decided for some of its instances.
    task_idx: Option<TaskIdx>,
    /// Positions in `instances` of those, and in parallel their subjects.
    decided: Vec<usize>,
    subjects: Vec<SubjectIdx>,
    /// In parallel, the doubts about their old states; empty if there is none.
    bases: Vec<DecisionBasis>,
    /// In parallel, the applied states that may have decided; empty if there is none.
    second_decisions: Vec<Option<SecondDecision>>,
}

#[derive(Default)]
struct Explained {
    explanations: Vec<Explanation>,
    /// For each instance, the index of its explanation.
    of: Vec<Option<u32>>,
}

/// Key for sharing explanations: equivalence class, old common document, decision basis, and the node-specific values
/// shown.
type ExplanationKey = (ClassKey, Vec<Option<ExactDigest>>);
type ClassKey = (usize, u32, Option<DecisionBasis>);

/// Per-node data that an explanation displays.
#[derive(Default)]
struct ShownData {
    keys: BTreeSet<String>,
    /// Only the changed parts of the whole document.
    changes: bool,
    everything: bool,
}

impl<'p> TaskWork<'p> {
    fn new(explainer: &Explainer<'_>, plan: &'p Plan, task: &'p PlannedTask) -> Self {
        let instances: Vec<Instance<'_>> = plan.instances_of(task).collect();
        let mut work = Self {
            instances,
            task_idx: None,
            decided: Vec::new(),
            subjects: Vec::new(),
            bases: Vec::new(),
            second_decisions: Vec::new(),
        };
        let has_doubts = explainer.evaluator.subjects.has_doubts();
        for (position, instance) in work.instances.iter().enumerate() {
            let Some(task_idx) = explainer.task_with_computed_condition(instance) else { continue };
            let Some(node_idx) = explainer.nodes.get(instance.node) else { continue };
            work.task_idx = Some(task_idx);
            work.decided.push(position);
            work.subjects.push(explainer.evaluator.subjects.of(task_idx, *node_idx));
            if has_doubts {
                work.bases.push(explainer.first_basis(task_idx, *node_idx));
                work.second_decisions.push(explainer.second_decision(task_idx, *node_idx, instance.verdict));
            }
        }
        work.compare_inputs(explainer);
        work
    }

    /// Adds the value of `inputsChanged()` to the decision bases, if the condition may call it.
    fn compare_inputs(&mut self, explainer: &Explainer<'_>) {
        let Some(task_idx) = self.task_idx else { return };
        let uids: Vec<&str> = self.decided.iter().map(|position| self.instances[*position].node).collect();
        let Some(compared) = explainer.compare_inputs(task_idx, &uids) else { return };
        let certain = DecisionBasis { doubt: None, is_fallback: false, inputs: CaseInputs::Unavailable };
        self.bases.resize(self.decided.len(), certain);
        for (position, basis) in self.bases.iter_mut().enumerate() {
            basis.inputs = CaseInputs::of(Some(&compared), position);
        }
    }

    /// The value of `inputsChanged()` by position, to split classes by; `None` if the condition does not call it.
    fn input_numbers(&self) -> Option<Vec<u32>> {
        let is_used = self.bases.iter().any(|basis| basis.inputs != CaseInputs::Unavailable);
        is_used.then(|| self.bases.iter().map(|basis| basis.inputs as u32).collect())
    }

    /// Replaces the subjects of instances in doubt that run only because of their applied state.
    fn look_again(&mut self, explainer: &Explainer<'_>) {
        let Some(task_idx) = self.task_idx else { return };
        if self.second_decisions.iter().all(Option::is_none) {
            return;
        }
        let Some(condition) = explainer.conditions.get(&task_idx) else { return };
        let inputs = self.input_numbers();
        let classes = Classes::new(&explainer.evaluator, &[*condition], &self.subjects, inputs.as_deref());
        let mut holds: HashMap<usize, bool> = HashMap::new();
        for (at, second) in std::mem::take(&mut self.second_decisions).into_iter().enumerate() {
            let Some(second) = second else { continue };
            let class = classes.class(at);
            let subject_idx = classes.representatives[class];
            let basis = &self.bases[at];
            if !*holds.entry(class).or_insert_with(|| explainer.holds(task_idx, subject_idx, basis)) {
                self.subjects[at] = second.subject_idx;
                self.bases[at] = second.basis;
            }
        }
    }

    fn explain(&self, explainer: &Explainer<'_>, own_keys: &HashSet<&str>) -> Explained {
        let mut explained = Explained { explanations: Vec::new(), of: vec![None; self.instances.len()] };
        if let Some(task_idx) = self.task_idx {
            self.explain_decided(task_idx, explainer, own_keys, &mut explained);
        }
        let mut plain: HashMap<_, u32> = HashMap::new();
        for (position, instance) in self.instances.iter().enumerate() {
            if explained.of[position].is_none() {
                let number = plain.entry(instance.verdict).or_insert_with(|| {
                    explained.explanations.push(explainer.explain_without_evaluation(instance));
                    explained.explanations.len() as u32 - 1
                });
                explained.of[position] = Some(*number);
            }
        }
        explained
    }

    fn explain_decided(
        &self,
        task_idx: TaskIdx,
        explainer: &Explainer<'_>,
        own_keys: &HashSet<&str>,
        explained: &mut Explained,
    ) {
        let Some(condition) = explainer.conditions.get(&task_idx) else { return };
        let inputs = self.input_numbers();
        let classes = Classes::new(&explainer.evaluator, &[*condition], &self.subjects, inputs.as_deref());
        let mut shown_by_class: HashMap<ClassKey, ShownData, foldhash::fast::FixedState> = HashMap::default();
        let mut numbers: HashMap<ExplanationKey, Option<u32>, foldhash::fast::FixedState> =
            HashMap::default();
        let certain = DecisionBasis { doubt: None, is_fallback: false, inputs: CaseInputs::Unavailable };
        for (at, (position, subject_idx)) in self.decided.iter().zip(&self.subjects).enumerate() {
            let past = explainer.evaluator.subjects.all[*subject_idx as usize].past;
            let basis = self.bases.get(at);
            let class: ClassKey = (classes.class(at), past, basis.cloned());
            let basis = basis.unwrap_or(&certain);
            let mut first = None;
            let data = shown_by_class.entry(class.clone()).or_insert_with(|| {
                first = explainer.decision_for(task_idx, *subject_idx, basis);
                let data = first.as_ref().map(|decided| explainer.shown_data(task_idx, decided, own_keys));
                data.unwrap_or_default()
            });
            let key = (class, explainer.own_data(*subject_idx, data));
            let number = *numbers.entry(key).or_insert_with(|| {
                let decided = first.or_else(|| explainer.decision_for(task_idx, *subject_idx, basis))?;
                explained.explanations.push(explanation(self.instances[*position].verdict, decided));
                Some(explained.explanations.len() as u32 - 1)
            });
            explained.of[*position] = number;
        }
    }
}

impl Explainer<'_> {
    /// Returns the per-node data that the text of a decision depends on.
    fn shown_data(&self, task_idx: TaskIdx, decided: &Decision, own_keys: &HashSet<&str>) -> ShownData {
        let mut data = ShownData::default();
        let condition =
            self.conditions.get(&task_idx).map(|idx| &self.evaluator.expressions.all[*idx as usize]);
        let Some(Ok(expression)) = condition.map(|compiled| &compiled.expression) else { return data };
        for argument in &decided.compared {
            if matches!(expression.program().tree.node(*argument), Node::Dollar) {
                data.changes = true;
                continue;
            }
            let reads = dependencies(&expression.subexpression(*argument), own_keys);
            if reads.aspects.is_empty() {
                continue;
            }
            let is_own = |kind: &AspectKind| matches!(kind, AspectKind::Path { document: Whose::Own, .. });
            match reads.keys {
                Some(keys) if !reads.aspects.iter().any(|aspect| is_own(&aspect.kind)) => {
                    data.keys.extend(keys.into_iter().filter(|key| own_keys.contains(key.as_str())));
                }
                _ => data.everything = true,
            }
        }
        data
    }

    fn own_data(&self, subject_idx: SubjectIdx, shown_data: &ShownData) -> Vec<Option<ExactDigest>> {
        let subject = &self.evaluator.subjects.all[subject_idx as usize];
        let none = Document::default();
        let (new, old) = (&subject.own, subject.old.as_ref().map_or(&none, |old| &old.node));
        let mut data = Vec::new();
        for document in [new, old] {
            if shown_data.everything {
                data.push(Some(document.value().identity()));
            }
            data.extend(shown_data.keys.iter().map(|key| document.get(key).map(Value::identity)));
        }
        if shown_data.changes {
            changes(new, old, &self.evaluator.subjects.differing(subject.past).touched, &mut data);
        }
        data
    }
}

/// Identities of the values in a node's own documents under keys where the whole document may have changed.
fn changes(new: &Document, old: &Document, differing: &Keys, data: &mut Vec<Option<ExactDigest>>) {
    let (Some(new_map), Some(old_map)) = (new.map(), old.map()) else { return };
    let is_common = |key: &Value| key.as_str().is_some_and(|key| differing.contains(key));
    for (key, value) in new_map.iter() {
        let before = old_map.get(key).ok().flatten();
        if is_common(key) || !before.is_some_and(|before| same(before, value)) {
            data.extend([Some(key.identity()), Some(value.identity()), before.map(Value::identity)]);
        }
    }
    for (key, value) in old_map.iter().filter(|(key, _)| !new_map.get(key).is_ok_and(|value| value.is_some()))
    {
        data.extend([Some(key.identity()), None, Some(value.identity())]);
    }
}
