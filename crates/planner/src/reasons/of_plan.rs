//! The reasons of a whole plan.
//!
//! Explaining means evaluating parts of a condition, too much to do for each of a million instances. Nodes that form
//! a class for a condition have the same part of it deciding; what is told of them differs only where values of old and
//! new state are told and these are the nodes' own. So one instance is explained for each class, or for each distinct
//! piece of own data that is told about.

use std::collections::{BTreeSet, HashMap, HashSet};

use stoker_yaql::Value;
use stoker_yaql::syntax::Node;
use stoker_yaql::value::Identity;

use super::decide::Decided;
use super::explain::{Explainer, Explanation, explanation};
use crate::compute::classes::Classes;
use crate::compute::dependencies::{Document as Whose, What, dependencies};
use crate::compute::subjects::{Keys, SubjectIdx, TaskIdx};
use crate::input::PlanningInput;
use crate::plan::{Instance, Plan, PlannedTask};
use crate::state::Document;
use crate::yaql_ext::same::same;

/// Why each instance of a plan runs or is skipped; equal explanations are kept once.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Reasons {
    pub(crate) explanations: Vec<Explanation>,
    /// By instance.
    pub(crate) of: Vec<u32>,
}

impl Reasons {
    /// Explains a plan that was made from this input.
    pub fn new(input: &PlanningInput<'_>, plan: &Plan) -> Self {
        let options = Explainer::options(input);
        let mut explainer = Explainer::new(input, &options);
        explainer.evaluator.n_threads = input.settings.n_threads.max(1);
        let works: Vec<Work<'_>> = plan.tasks.iter().map(|task| Work::new(&explainer, plan, task)).collect();
        for work in &works {
            if let Some(condition) = work.task_idx.and_then(|task_idx| explainer.conditions.get(&task_idx)) {
                explainer.evaluator.want(&[*condition], &work.subjects);
            }
        }
        explainer.evaluator.look();
        let own_keys = explainer.evaluator.subjects.own_keys();
        let explained = explainer
            .evaluator
            .in_parallel(works.len(), |work_idx| works[work_idx].explain(&explainer, &own_keys));
        let mut reasons = Self::default();
        let mut known: HashMap<Explanation, u32> = HashMap::new();
        for Explained { explanations, of } in explained {
            let numbers: Vec<u32> =
                explanations.into_iter().map(|explanation| reasons.add(&mut known, explanation)).collect();
            reasons.of.extend(of.into_iter().map(|place| numbers[place as usize]));
        }
        reasons
    }

    fn add(&mut self, known: &mut HashMap<Explanation, u32>, explanation: Explanation) -> u32 {
        let next = self.explanations.len() as u32;
        *known.entry(explanation).or_insert_with_key(|explanation| {
            self.explanations.push(explanation.clone());
            next
        })
    }

    /// Rewrites everything that shows data, for callers who know some of it to be secret.
    pub fn rewrite(&mut self, rewritten: impl Fn(&str) -> String) {
        for explanation in &mut self.explanations {
            explanation.rewrite(&rewritten);
        }
    }

    /// Why an instance runs or is skipped.
    pub fn of(&self, idx: u32) -> Option<&Explanation> {
        self.explanations.get(*self.of.get(idx as usize)? as usize)
    }

    /// Each explanation once, in the order in which instances first have them.
    pub fn all(&self) -> &[Explanation] {
        &self.explanations
    }

    /// The place of an instance's explanation in [`Reasons::all`].
    pub fn number(&self, idx: u32) -> Option<u32> {
        self.of.get(idx as usize).copied()
    }
}

/// The instances of one task.
struct Work<'p> {
    instances: Vec<Instance<'p>>,
    /// The task, if a computed condition decided for some of them.
    task_idx: Option<TaskIdx>,
    /// Those for which it did, as places in `instances`, and beside them their subjects.
    decided: Vec<usize>,
    subjects: Vec<SubjectIdx>,
}

#[derive(Default)]
struct Explained {
    explanations: Vec<Explanation>,
    of: Vec<u32>,
}

/// What two instances must have in common to be explained in the same words: class, past, and own data.
type Likeness = (usize, u32, Vec<Option<Identity>>);

/// Own data that an explanation tells about.
#[derive(Default)]
struct Told {
    keys: BTreeSet<String>,
    /// What has changed in the document as a whole, and nothing that has not.
    changes: bool,
    everything: bool,
}

impl<'p> Work<'p> {
    fn new(explainer: &Explainer<'_>, plan: &'p Plan, task: &'p PlannedTask) -> Self {
        let instances: Vec<Instance<'_>> = plan.instances_of(task).collect();
        let mut work = Self { instances, task_idx: None, decided: Vec::new(), subjects: Vec::new() };
        for (place, instance) in work.instances.iter().enumerate() {
            let Some(task_idx) = explainer.computed(instance) else { continue };
            let Some(node_idx) = explainer.nodes.get(instance.node) else { continue };
            work.task_idx = Some(task_idx);
            work.decided.push(place);
            work.subjects.push(explainer.evaluator.subjects.of(task_idx, *node_idx));
        }
        work
    }

    fn explain(&self, explainer: &Explainer<'_>, own_keys: &HashSet<&str>) -> Explained {
        let mut explained = Explained { explanations: Vec::new(), of: vec![u32::MAX; self.instances.len()] };
        if let Some(task_idx) = self.task_idx {
            self.explain_decided(task_idx, explainer, own_keys, &mut explained);
        }
        let mut plain: HashMap<_, u32> = HashMap::new();
        for (place, instance) in self.instances.iter().enumerate() {
            if explained.of[place] == u32::MAX {
                let number = plain.entry(instance.verdict).or_insert_with(|| {
                    explained.explanations.push(explainer.plainly(instance));
                    explained.explanations.len() as u32 - 1
                });
                explained.of[place] = *number;
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
        let classes = Classes::new(&explainer.evaluator, &[*condition], &self.subjects);
        let mut told_of: HashMap<(usize, u32), Told, foldhash::fast::FixedState> = HashMap::default();
        let mut known: HashMap<Likeness, Option<u32>, foldhash::fast::FixedState> = HashMap::default();
        for (at, (place, subject_idx)) in self.decided.iter().zip(&self.subjects).enumerate() {
            let (class, past) =
                (classes.class(at), explainer.evaluator.subjects.all[*subject_idx as usize].past);
            let mut first = None;
            let told = told_of.entry((class, past)).or_insert_with(|| {
                first = explainer.decided_for(task_idx, *subject_idx);
                let told = first.as_ref().map(|decided| explainer.told(task_idx, decided, own_keys));
                told.unwrap_or_default()
            });
            let likeness = (class, past, explainer.own_data(*subject_idx, told));
            let number = *known.entry(likeness).or_insert_with(|| {
                let decided = first.or_else(|| explainer.decided_for(task_idx, *subject_idx))?;
                explained.explanations.push(explanation(self.instances[*place].verdict, decided));
                Some(explained.explanations.len() as u32 - 1)
            });
            if let Some(number) = number {
                explained.of[*place] = number;
            }
        }
    }
}

impl Explainer<'_> {
    /// What of a node's own documents the words of a decision depend on.
    fn told(&self, task_idx: TaskIdx, decided: &Decided, own_keys: &HashSet<&str>) -> Told {
        let mut told = Told::default();
        let condition =
            self.conditions.get(&task_idx).map(|idx| &self.evaluator.expressions.all[*idx as usize]);
        let Some(Ok(expression)) = condition.map(|compiled| &compiled.expression) else { return told };
        for argument in &decided.compared {
            if matches!(expression.program().tree.node(*argument), Node::Dollar) {
                told.changes = true;
                continue;
            }
            let found = dependencies(&expression.part(*argument), own_keys);
            if found.aspects.is_empty() {
                continue;
            }
            let is_own = |what: &What| matches!(what, What::Path { document: Whose::Own, .. });
            match found.keys {
                Some(keys) if !found.aspects.iter().any(|aspect| is_own(&aspect.what)) => {
                    told.keys.extend(keys.into_iter().filter(|key| own_keys.contains(key.as_str())));
                }
                _ => told.everything = true,
            }
        }
        told
    }

    fn own_data(&self, subject_idx: SubjectIdx, told: &Told) -> Vec<Option<Identity>> {
        let subject = &self.evaluator.subjects.all[subject_idx as usize];
        let none = Document::default();
        let (new, old) = (&subject.own, subject.old.as_ref().map_or(&none, |old| &old.node));
        let mut data = Vec::new();
        for document in [new, old] {
            if told.everything {
                data.push(Some(document.value().identity()));
            }
            data.extend(told.keys.iter().map(|key| document.get(key).map(Value::identity)));
        }
        if told.changes {
            changes(new, old, &self.evaluator.subjects.differing(subject.past).touched, &mut data);
        }
        data
    }
}

/// What is under those keys of a node's own documents where the whole document may have changed.
fn changes(new: &Document, old: &Document, differing: &Keys, data: &mut Vec<Option<Identity>>) {
    let (Some(is), Some(was)) = (new.map(), old.map()) else { return };
    let is_common = |key: &Value| key.as_str().is_some_and(|key| differing.contains(key));
    for (key, value) in is.iter() {
        let before = was.get(key).ok().flatten();
        if is_common(key) || !before.is_some_and(|before| same(before, value)) {
            data.extend([Some(key.identity()), Some(value.identity()), before.map(Value::identity)]);
        }
    }
    for (key, value) in was.iter().filter(|(key, _)| !is.get(key).is_ok_and(|found| found.is_some())) {
        data.extend([Some(key.identity()), None, Some(value.identity())]);
    }
}
