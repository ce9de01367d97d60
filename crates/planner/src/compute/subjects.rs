//! For whom expressions are evaluated: a node together with one of its pasts.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use stoker_yaql::Value;
use stoker_yaql::value::{Identity, MapBuilder};

use crate::state::{Document, OldStates, State, overlay};

/// Keys are looked for for every node; nobody who writes them gains by making them collide.
pub(crate) type Keys = HashSet<String, foldhash::fast::FixedState>;

/// Place of a node in the list of all nodes.
pub(crate) type NodeIdx = u32;
/// Place of a task in the list of all tasks.
pub(crate) type TaskIdx = u32;
/// Place of a subject: the usual ones come first and have the numbers of their nodes.
pub(crate) type SubjectIdx = u32;

#[derive(Debug)]
pub(crate) struct Subject {
    /// The node's own document.
    pub(crate) own: Document,
    pub(crate) old: Option<State>,
    /// Which old state of the cluster it has; equal numbers, equal documents. Zero is none.
    pub(crate) past: u32,
    /// The top-level keys in which its own document is not what it was, worked out when first asked for.
    own_touched: OnceLock<Box<[String]>>,
}

impl Subject {
    fn own_touched(&self) -> &[String] {
        self.own_touched.get_or_init(|| match &self.old {
            Some(old) if self.own.value().identity() != old.node.value().identity() => {
                Differing::between(&self.own, &old.node).touched.into_iter().collect()
            }
            _ => Box::default(),
        })
    }
}

/// All subjects over one new state of the cluster.
#[derive(Debug)]
pub(crate) struct Subjects {
    pub(crate) common: Document,
    pub(crate) all: Vec<Subject>,
    /// Tasks that succeeded last with another state than most of their node.
    exceptions: HashMap<(TaskIdx, NodeIdx), SubjectIdx>,
    /// By past, how the old state of the cluster differs from the new one.
    differing: Arc<[Differing]>,
}

/// Stands for all keys that are no text.
const OTHER: &str = "\0";

/// The top-level keys in which two documents differ.
#[derive(Debug, Default)]
pub(crate) struct Differing {
    /// Where they are unequal.
    pub(crate) changed: Keys,
    /// Where they are not the same: `1` has become `true`, which is equal and can be told apart. What reads other keys
    /// only has the same result over both.
    pub(crate) touched: Keys,
}

impl Differing {
    fn between(a: &Document, b: &Document) -> Self {
        let (Some(a), Some(b)) = (a.map(), b.map()) else { return Self::default() };
        let mut differing = Self::default();
        for key in a.iter().chain(b.iter()).map(|(key, _)| key) {
            let (is_changed, is_touched) = match (a.get(key), b.get(key)) {
                (Ok(Some(a)), Ok(Some(b))) => (!a.equals(b), a.identity() != b.identity()),
                _ => (true, true),
            };
            let key = key.as_str().unwrap_or(OTHER);
            if is_changed {
                differing.changed.insert(key.to_owned());
            }
            if is_changed || is_touched {
                differing.touched.insert(key.to_owned());
            }
        }
        differing
    }
}

impl Subjects {
    /// `nodes` are uids and documents of all nodes, `tasks` the names of all tasks.
    pub(crate) fn new(
        common: &Document,
        nodes: &[(&str, Document)],
        tasks: &HashMap<&str, TaskIdx>,
        old: Option<&OldStates>,
    ) -> Self {
        let mut pasts = Pasts::new(common);
        let (mut all, mut exceptions, mut rest) =
            (Vec::with_capacity(nodes.len()), HashMap::new(), Vec::new());
        let none = OldStates::default();
        let old = old.unwrap_or(&none);
        for (node_idx, (uid, own)) in (0_u32..).zip(nodes) {
            let past = old.past(uid);
            let subject = |state_idx: Option<u32>, pasts: &mut Pasts| {
                let state = state_idx.and_then(|state_idx| old.states().get(state_idx as usize)).cloned();
                let past = state.as_ref().map_or(0, |state| pasts.number(&state.common));
                Subject { own: own.clone(), old: state, past, own_touched: OnceLock::new() }
            };
            let usual = past.and_then(|past| past.usual);
            all.push(subject(usual, &mut pasts));
            let mut known: HashMap<Option<u32>, SubjectIdx> = HashMap::from([(usual, node_idx)]);
            for (task, state_idx) in past.into_iter().flat_map(|past| &past.by_task) {
                let Some(task_idx) = tasks.get(task.as_str()) else { continue };
                let subject_idx = *known.entry(*state_idx).or_insert_with(|| {
                    rest.push(subject(*state_idx, &mut pasts));
                    (nodes.len() + rest.len() - 1) as SubjectIdx
                });
                exceptions.insert((*task_idx, node_idx), subject_idx);
            }
        }
        all.extend(rest);
        Self { common: common.clone(), all, exceptions, differing: pasts.differing.into() }
    }

    /// For whom a task is evaluated on a node.
    pub(crate) fn of(&self, task_idx: TaskIdx, node_idx: NodeIdx) -> SubjectIdx {
        if self.exceptions.is_empty() {
            return node_idx;
        }
        self.exceptions.get(&(task_idx, node_idx)).copied().unwrap_or(node_idx)
    }

    pub(crate) fn has_exceptions(&self) -> bool {
        !self.exceptions.is_empty()
    }

    pub(crate) fn documents(&self, subject_idx: SubjectIdx) -> Documents {
        let subject = &self.all[subject_idx as usize];
        let new = State { common: self.common.clone(), node: subject.own.clone() }.document();
        let old = match &subject.old {
            Some(_)
                if self.differing(subject.past).touched.is_empty() && subject.own_touched().is_empty() =>
            {
                new.clone()
            }
            Some(old) => old.document(),
            None => State::default().document(),
        };
        Documents { new, old, past: subject.past }
    }

    /// The same with only some top-level keys, which ascend.
    pub(crate) fn excerpt(&self, subject_idx: SubjectIdx, keys: &[&str]) -> Documents {
        let subject = &self.all[subject_idx as usize];
        let new = excerpt(&self.common, &subject.own, keys);
        let touched = &self.differing(subject.past).touched;
        let is_touched =
            |key: &&str| touched.contains(*key) || subject.own_touched().iter().any(|own| own == key);
        let old = match &subject.old {
            Some(old) if keys.iter().any(is_touched) => excerpt(&old.common, &old.node, keys),
            Some(_) => new.clone(),
            None => Document::default().value().clone(),
        };
        Documents { new, old, past: subject.past }
    }

    /// How an old state of the cluster differs from the new one.
    pub(crate) fn differing(&self, past: u32) -> &Differing {
        &self.differing[past as usize]
    }

    /// The same for all pasts; the first is none at all.
    pub(crate) fn all_differing(&self) -> Arc<[Differing]> {
        self.differing.clone()
    }

    /// Whether what is at a path has changed, as far as that can be told without putting documents together.
    pub(crate) fn has_path_changed(&self, subject_idx: SubjectIdx, path: &[String]) -> Option<bool> {
        let subject = &self.all[subject_idx as usize];
        if !is_at(Some(self.common.value()), Some(subject.own.value()), path) {
            // The language may do more than look, or fail.
            return None;
        }
        let key = path.first()?;
        match &subject.old {
            None => Some(true),
            Some(_) if self.differing(subject.past).touched.contains(key) => None,
            Some(_) => (!subject.own_touched().contains(key)).then_some(false),
        }
    }

    /// The document of a subject that alone has a top-level key now; any if none has it.
    pub(crate) fn alone(&self, subject_idx: SubjectIdx, key: &str) -> Option<&Value> {
        let own = &self.all[subject_idx as usize].own;
        match (self.common.get(key), own.get(key)) {
            (Some(_), Some(_)) => None,
            (Some(_), None) => Some(self.common.value()),
            (None, _) => Some(own.value()),
        }
    }

    /// Whether the whole document has changed, looked at only where it can have.
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
        if differing.changed.is_empty() && subject.own_touched().is_empty() {
            return false;
        }
        let documents = self.documents(subject_idx);
        !documents.new.equals(&documents.old)
    }

    /// All keys that some node has in a document of its own, now or before.
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
        let beneath = common.map().and_then(|map| map.get_entry(key));
        let above = own.map().and_then(|map| map.get_entry(key));
        match (beneath, above) {
            (None, None) => {}
            (Some((key, value)), None) | (None, Some((key, value))) => {
                builder.insert_key(key.clone(), value.clone());
            }
            (Some((key, lower)), Some((_, upper))) => builder.insert_key(key.clone(), overlay(lower, upper)),
        }
    }
    Value::frozen_dict(builder.build())
}

/// Whether there is a value at a path through maps, one document lying over the other.
fn is_at(lower: Option<&Value>, upper: Option<&Value>, path: &[String]) -> bool {
    let Some((key, rest)) = path.split_first() else { return lower.is_some() || upper.is_some() };
    // What is no map hides what is beneath it.
    let (lower, upper) = match (lower, upper) {
        (lower, None) => (lower.and_then(Value::as_map), None),
        (lower, Some(upper)) => match upper.as_map() {
            Some(upper) => (lower.and_then(Value::as_map), Some(upper)),
            None => return false,
        },
    };
    let (lower, upper) = (lower.and_then(|map| map.get_str(key)), upper.and_then(|map| map.get_str(key)));
    (lower.is_some() || upper.is_some()) && is_at(lower, upper, rest)
}

/// What `$` is, now and before.
pub(crate) struct Documents {
    pub(crate) new: Value,
    /// The very same where nothing has been touched.
    pub(crate) old: Value,
    pub(crate) past: u32,
}

impl Documents {
    /// Whether both are one, so that every expression has one value over them.
    pub(crate) fn are_one(&self) -> bool {
        matches!((self.new.as_map(), self.old.as_map()), (Some(new), Some(old)) if Arc::ptr_eq(new, old))
    }
}

/// Old states of the cluster, each once.
struct Pasts<'c> {
    common: &'c Document,
    numbers: HashMap<Identity, u32>,
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
