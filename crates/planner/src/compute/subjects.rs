//! Evaluation subjects: a node together with one of its old states.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use stoker_model::{NodeIdx, TaskIdx};
use stoker_state::{
    AppliedStates, AttributeChange, Document, Doubt, EffectiveState, GraphIdx, Taint, overlay,
};
use stoker_yaql::Value;
use stoker_yaql::value::{ExactDigest, MapBuilder};

use crate::differing::{Differing, OTHER};
use crate::yaql_ext::inputs_changed::InputsState;

/// Index into [`Subjects::all`]. The default subjects of the nodes come first, so their indices equal node
/// indices.
pub(crate) type SubjectIdx = u32;

#[derive(Debug)]
pub(crate) struct Subject {
    /// The node's own document.
    pub(crate) own: Document,
    pub(crate) old: Option<EffectiveState>,
    /// Number of its old common document; equal numbers, equal documents. Zero: no old state.
    pub(crate) past: u32,
    /// The top-level keys in which its own document differs from the old one, computed on first use.
    own_changed_keys: OnceLock<Box<[String]>>,
}

impl Subject {
    fn own_changed_keys(&self) -> &[String] {
        self.own_changed_keys.get_or_init(|| match &self.old {
            Some(old) if self.own.value().identity() != old.node.value().identity() => {
                Differing::between(&self.own, &old.node).touched.into_iter().collect()
            }
            _ => Box::default(),
        })
    }
}

/// All subjects over one new state.
#[derive(Debug)]
pub(crate) struct Subjects {
    pub(crate) common: Document,
    pub(crate) all: Vec<Subject>,
    /// Instances that are evaluated for another subject than the node's default.
    exceptions: HashMap<(TaskIdx, NodeIdx), SubjectIdx>,
    /// Doubts about single instances.
    doubts: HashMap<(TaskIdx, NodeIdx), (Doubt, Option<SubjectIdx>)>,
    /// For each graph, the tasks that are redefined on all nodes whose default state was applied with it.
    redefined: Vec<HashMap<TaskIdx, Arc<[AttributeChange]>>>,
    /// For each node, the graph of its default state if some task of it is redefined, and the node's subject without an
    /// old state. Empty if no task is redefined.
    doubted_nodes: Vec<Option<(GraphIdx, SubjectIdx)>>,
    /// For each past, how the old common document differs from the new one.
    differing: Arc<[Differing]>,
}

/// For a graph of the applied states, the tasks whose present definition differs from that in the graph.
pub(crate) type Redefinitions<'a> = HashMap<&'a str, Arc<[AttributeChange]>>;

/// The applied states of a plan, and the tasks whose definition differs from that in each of their graphs.
#[derive(Clone, Copy)]
pub(crate) struct Applied<'a> {
    pub(crate) states: Option<&'a AppliedStates>,
    pub(crate) redefinitions: &'a [Redefinitions<'a>],
}

impl Subjects {
    /// `nodes` are the uids and documents of all nodes, `tasks` maps all task names to indices.
    pub(crate) fn new(
        common: &Document,
        nodes: &[(&str, Document)],
        tasks: &HashMap<&str, TaskIdx>,
        applied: Applied<'_>,
    ) -> Self {
        let mut pasts = Pasts::new(common);
        let (mut all, mut exceptions, mut rest) =
            (Vec::with_capacity(nodes.len()), HashMap::new(), Vec::new());
        let none = AppliedStates::default();
        let old = applied.states.unwrap_or(&none);
        let redefined: Vec<HashMap<TaskIdx, Arc<[AttributeChange]>>> =
            applied.redefinitions.iter().map(|graph| by_index(graph, tasks)).collect();
        let is_redefined = redefined.iter().any(|graph| !graph.is_empty());
        let mut doubts = HashMap::new();
        let mut doubted_nodes = if is_redefined { vec![None; nodes.len()] } else { Vec::new() };
        for (node_idx, (uid, own)) in NodeIdx::first(nodes.len()).zip(nodes) {
            let past = old.past(uid);
            let subject = |state_idx: Option<u32>, pasts: &mut Pasts| {
                let state = state_idx.and_then(|state_idx| old.states().get(state_idx as usize)).cloned();
                let past = state.as_ref().map_or(0, |state| pasts.number(&state.common));
                Subject { own: own.clone(), old: state, past, own_changed_keys: OnceLock::new() }
            };
            let usual = past.and_then(|past| past.usual);
            all.push(subject(usual, &mut pasts));
            let mut subject_of_state: HashMap<Option<u32>, SubjectIdx> =
                HashMap::from([(usual, node_idx.get())]);
            let mut subject_of = |state_idx: Option<u32>| {
                *subject_of_state.entry(state_idx).or_insert_with(|| {
                    rest.push(subject(state_idx, &mut pasts));
                    (nodes.len() + rest.len() - 1) as SubjectIdx
                })
            };
            let graph_of = |state_idx: Option<u32>| {
                let graph = old.graph_of(state_idx?)?;
                redefined.get(graph as usize).filter(|tasks| !tasks.is_empty()).map(|tasks| (graph, tasks))
            };
            if is_redefined && let Some((graph, _)) = graph_of(usual) {
                doubted_nodes[node_idx.index()] = Some((graph, subject_of(None)));
            }
            let Some(past) = past else { continue };
            for (task, state_idx) in &past.by_task {
                let Some(task_idx) = tasks.get(task.as_str()) else { continue };
                let subject_idx = subject_of(*state_idx);
                let changes = graph_of(*state_idx).and_then(|(_, tasks)| tasks.get(task_idx));
                let used = match changes {
                    None => subject_idx,
                    Some(changes) => {
                        let doubt = Doubt::Redefined(changes.clone());
                        doubts.insert((*task_idx, node_idx), (doubt, Some(subject_idx)));
                        subject_of(None)
                    }
                };
                exceptions.insert((*task_idx, node_idx), used);
            }
            for (task, taint) in &past.taints {
                let Some(task_idx) = tasks.get(task.as_str()) else { continue };
                let state_idx = past.by_task.get(task).copied().unwrap_or(past.usual);
                let retained = state_idx.is_some().then(|| subject_of(state_idx));
                doubts.insert((*task_idx, node_idx), (Doubt::Tainted(*taint), retained));
                exceptions.insert((*task_idx, node_idx), subject_of(None));
            }
        }
        all.extend(rest);
        Self {
            common: common.clone(),
            all,
            exceptions,
            doubts,
            redefined,
            doubted_nodes,
            differing: pasts.differing.into(),
        }
    }

    /// The subject that a task on a node is evaluated for.
    pub(crate) fn of(&self, task_idx: TaskIdx, node_idx: NodeIdx) -> SubjectIdx {
        if self.exceptions.is_empty() && self.doubted_nodes.is_empty() {
            return node_idx.get();
        }
        if let Some(subject_idx) = self.exceptions.get(&(task_idx, node_idx)) {
            return *subject_idx;
        }
        self.usual_redefinition(task_idx, node_idx).map_or(node_idx.get(), |(_, empty)| empty)
    }

    /// If the node's default applied state has another definition of the task: the changed attributes, and the node's
    /// subject that has no old state.
    fn usual_redefinition(
        &self,
        task_idx: TaskIdx,
        node_idx: NodeIdx,
    ) -> Option<(&Arc<[AttributeChange]>, SubjectIdx)> {
        let (graph, empty) = (*self.doubted_nodes.get(node_idx.index())?)?;
        Some((self.redefined[graph as usize].get(&task_idx)?, empty))
    }

    pub(crate) fn has_exceptions(&self) -> bool {
        !self.exceptions.is_empty() || !self.doubted_nodes.is_empty()
    }

    pub(crate) fn has_doubts(&self) -> bool {
        !self.doubts.is_empty() || !self.doubted_nodes.is_empty()
    }

    /// Why the applied state of an instance does not count as its old state, and the subject with that state, if the
    /// task ever succeeded on the node.
    pub(crate) fn doubt(&self, task_idx: TaskIdx, node_idx: NodeIdx) -> Option<(Doubt, Option<SubjectIdx>)> {
        if let Some(doubt) = self.doubts.get(&(task_idx, node_idx)) {
            return Some(doubt.clone());
        }
        // An exception that is not in doubt has its own applied state, or none.
        if self.doubted_nodes.is_empty() || self.exceptions.contains_key(&(task_idx, node_idx)) {
            return None;
        }
        let (changes, _) = self.usual_redefinition(task_idx, node_idx)?;
        Some((Doubt::Redefined(changes.clone()), Some(node_idx.get())))
    }

    /// The applied state of an instance with the number of its common document, if it counts as the old state.
    pub(crate) fn applied(&self, task_idx: TaskIdx, node_idx: NodeIdx) -> Option<(EffectiveState, u32)> {
        let subject = &self.all[self.of(task_idx, node_idx) as usize];
        subject.old.clone().map(|state| (state, subject.past))
    }

    pub(crate) fn taint(&self, task_idx: TaskIdx, node_idx: NodeIdx) -> Option<&Taint> {
        match &self.doubts.get(&(task_idx, node_idx))?.0 {
            Doubt::Tainted(taint) => Some(taint),
            Doubt::Redefined(_) => None,
        }
    }

    /// From now on, evaluates an instance in doubt for its applied state.
    pub(crate) fn use_retained(&mut self, task_idx: TaskIdx, node_idx: NodeIdx) {
        if let Some((doubt, Some(retained))) = self.doubt(task_idx, node_idx) {
            self.exceptions.insert((task_idx, node_idx), retained);
            self.doubts.insert((task_idx, node_idx), (doubt, Some(retained)));
        }
    }

    pub(crate) fn documents(&self, subject_idx: SubjectIdx) -> Documents {
        let subject = &self.all[subject_idx as usize];
        let new = EffectiveState { common: self.common.clone(), node: subject.own.clone() }.document();
        let old = match &subject.old {
            Some(_)
                if self.differing(subject.past).touched.is_empty()
                    && subject.own_changed_keys().is_empty() =>
            {
                new.clone()
            }
            Some(old) => old.document(),
            None => EffectiveState::default().document(),
        };
        Documents { new, old, past: subject.past, inputs: InputsState::Unavailable }
    }

    /// The document of a subject with only some top-level keys, which must be sorted.
    pub(crate) fn excerpt(&self, subject_idx: SubjectIdx, keys: &[&str]) -> Documents {
        let subject = &self.all[subject_idx as usize];
        let new = excerpt(&self.common, &subject.own, keys);
        let touched = &self.differing(subject.past).touched;
        let is_touched =
            |key: &&str| touched.contains(*key) || subject.own_changed_keys().iter().any(|own| own == key);
        let old = match &subject.old {
            Some(old) if keys.iter().any(is_touched) => excerpt(&old.common, &old.node, keys),
            Some(_) => new.clone(),
            None => Document::default().value().clone(),
        };
        Documents { new, old, past: subject.past, inputs: InputsState::Unavailable }
    }

    /// Returns the differences between an old common document and the new one.
    pub(crate) fn differing(&self, past: u32) -> &Differing {
        &self.differing[past as usize]
    }

    /// The differences of all pasts; past zero is the absence of an old state.
    pub(crate) fn all_differing(&self) -> Arc<[Differing]> {
        self.differing.clone()
    }

    /// Whether the value at a path changed; `None` if that cannot be decided without assembling documents.
    pub(crate) fn has_path_changed(&self, subject_idx: SubjectIdx, path: &[String]) -> Option<bool> {
        let subject = &self.all[subject_idx as usize];
        if !has_value_at(Some(self.common.value()), Some(subject.own.value()), path) {
            // The language may do more than a map lookup here, or fail.
            return None;
        }
        let key = path.first()?;
        match &subject.old {
            None => Some(true),
            Some(_) if self.differing(subject.past).touched.contains(key) => None,
            Some(_) => (!subject.own_changed_keys().contains(key)).then_some(false),
        }
    }

    /// The only document (common or own) that has a top-level key, so that no overlay is needed; `None` if
    /// both have it.
    pub(crate) fn sole_document(&self, subject_idx: SubjectIdx, key: &str) -> Option<&Value> {
        let own = &self.all[subject_idx as usize].own;
        match (self.common.get(key), own.get(key)) {
            (Some(_), Some(_)) => None,
            (Some(_), None) => Some(self.common.value()),
            (None, _) => Some(own.value()),
        }
    }

    /// Whether the whole document changed. Assembles and compares documents only if the per-key differences
    /// do not decide.
    pub(crate) fn has_document_changed(&self, subject_idx: SubjectIdx) -> bool {
        let subject = &self.all[subject_idx as usize];
        let Some(old) = &subject.old else {
            return [&self.common, &subject.own].iter().any(|document| document.value().is_true());
        };
        let differing = self.differing(subject.past);
        let is_own =
            |key: &str| key == OTHER || subject.own.get(key).is_some() || old.node.get(key).is_some();
        if differing.changed.iter().any(|key| !is_own(key)) {
            return true;
        }
        if differing.changed.is_empty() && subject.own_changed_keys().is_empty() {
            return false;
        }
        let documents = self.documents(subject_idx);
        !documents.new.equals(&documents.old)
    }

    /// All top-level keys that some node has in its own document, new or old.
    pub(crate) fn own_keys(&self) -> HashSet<&str> {
        let mut keys: HashSet<&str, foldhash::fast::FixedState> = HashSet::default();
        for subject in &self.all {
            let documents = [Some(&subject.own), subject.old.as_ref().map(|old| &old.node)];
            for map in documents.into_iter().flatten().filter_map(Document::map) {
                for key in map.iter().filter_map(|(key, _)| key.as_str()) {
                    if !keys.contains(key) {
                        keys.insert(key);
                    }
                }
            }
        }
        keys.into_iter().collect()
    }
}

fn excerpt(common: &Document, own: &Document, keys: &[&str]) -> Value {
    let mut builder = MapBuilder::with_capacity(keys.len());
    for key in keys {
        let lower = common.map().and_then(|map| map.get_entry(key));
        let upper = own.map().and_then(|map| map.get_entry(key));
        match (lower, upper) {
            (None, None) => {}
            (Some((key, value)), None) | (None, Some((key, value))) => {
                builder.insert_key(key.clone(), value.clone());
            }
            (Some((key, lower)), Some((_, upper))) => builder.insert_key(key.clone(), overlay(lower, upper)),
        }
    }
    Value::frozen_dict(builder.build())
}

/// Whether the overlay of `upper` over `lower` has a value at a path that leads through maps only.
fn has_value_at(lower: Option<&Value>, upper: Option<&Value>, path: &[String]) -> bool {
    let Some((key, rest)) = path.split_first() else { return lower.is_some() || upper.is_some() };
    // A value in `upper` that is not a map hides the value in `lower`.
    let (lower, upper) = match (lower, upper) {
        (lower, None) => (lower.and_then(Value::as_map), None),
        (lower, Some(upper)) => match upper.as_map() {
            Some(upper) => (lower.and_then(Value::as_map), Some(upper)),
            None => return false,
        },
    };
    let (lower, upper) = (lower.and_then(|map| map.get_str(key)), upper.and_then(|map| map.get_str(key)));
    (lower.is_some() || upper.is_some()) && has_value_at(lower, upper, rest)
}

fn by_index(
    redefinitions: &Redefinitions<'_>,
    tasks: &HashMap<&str, TaskIdx>,
) -> HashMap<TaskIdx, Arc<[AttributeChange]>> {
    redefinitions.iter().filter_map(|(task, changes)| Some((*tasks.get(task)?, changes.clone()))).collect()
}

/// The values of `$` in the new and the old state.
pub(crate) struct Documents {
    pub(crate) new: Value,
    /// Shares its allocation with `new` if nothing changed.
    pub(crate) old: Value,
    pub(crate) past: u32,
    /// Whether the inputs of the instance changed.
    pub(crate) inputs: InputsState,
}

impl Documents {
    /// Whether both are the same allocation, so that every expression has the same value over them.
    pub(crate) fn are_identical(&self) -> bool {
        matches!((self.new.as_map(), self.old.as_map()), (Some(new), Some(old)) if Arc::ptr_eq(new, old))
    }
}

/// Old common documents, deduplicated.
struct Pasts<'c> {
    common: &'c Document,
    numbers: HashMap<ExactDigest, u32>,
    differing: Vec<Differing>,
}

impl<'c> Pasts<'c> {
    fn new(common: &'c Document) -> Self {
        Self { common, numbers: HashMap::new(), differing: vec![Differing::default()] }
    }

    fn number(&mut self, old: &Document) -> u32 {
        let next = self.differing.len() as u32;
        let number = *self.numbers.entry(old.value().identity()).or_insert(next);
        if number == next {
            self.differing.push(Differing::between(self.common, old));
        }
        number
    }
}
