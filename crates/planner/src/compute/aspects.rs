//! What sets nodes apart, looked at once for each node.
//!
//! An aspect has a number for each subject: equal numbers mean that the subjects do not differ in it. Aspects of all
//! expressions are looked at together, so that the document of a node is put together once.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, OnceLock, PoisonError};

use stoker_yaql::syntax::Node;
use stoker_yaql::value::{Digest, Identity};
use stoker_yaql::{Expression, Value};

use super::dependencies::{Aspect, Document, What};
use super::evaluator::{Setting, Side};
use super::subjects::{Documents, SubjectIdx, Subjects};
use crate::yaql_ext::same::same;
use crate::yaql_ext::scope::no_value_if_failed;

/// Place of an aspect in the list of all aspects.
pub(crate) type AspectIdx = u32;

const FALSE: u32 = 0;
const TRUE: u32 = 1;
const FAILED: u32 = 2;
/// Values are numbered from here on.
const FIRST_VALUE: u32 = 3;

#[derive(Debug)]
pub(crate) struct Aspects {
    all: Vec<Known>,
    by_name: HashMap<String, AspectIdx>,
    /// All keys that some aspect reads, in order of their first use.
    keys: Vec<String>,
}

#[derive(Debug)]
struct Known {
    what: What,
    /// The path that is asked about, where it is one: looking is faster than evaluating.
    path: Option<PlainPath>,
    /// Whether it is the question if the whole document has changed.
    is_whole: bool,
    /// The keys it reads, by their numbers; none: the whole document.
    keys: Option<Vec<usize>>,
    /// For whom it is wanted.
    is_wanted: Vec<bool>,
    /// By subject.
    numbers: Vec<u32>,
    values: Mutex<HashMap<Identity, u32>>,
    /// By past, the members of the collection.
    members: Vec<OnceLock<Option<HashSet<Digest>>>>,
}

impl Aspects {
    pub(crate) fn new() -> Self {
        Self { all: Vec::new(), by_name: HashMap::new(), keys: Vec::new() }
    }

    pub(crate) fn add(&mut self, aspect: Aspect, n_subjects: usize, n_pasts: usize) -> AspectIdx {
        let name = aspect.what.name();
        if let Some(known) = self.by_name.get(&name) {
            return *known;
        }
        let aspect_idx = self.all.len() as AspectIdx;
        self.by_name.insert(name, aspect_idx);
        let keys = aspect.keys.map(|keys| keys.into_iter().map(|key| self.key(key)).collect());
        self.all.push(Known {
            is_whole: matches!(&aspect.what, What::Changed(expression) if is_dollar(expression)),
            path: PlainPath::of(&aspect.what),
            what: aspect.what,
            keys,
            is_wanted: vec![false; n_subjects],
            numbers: vec![0; n_subjects],
            values: Mutex::default(),
            members: (0..n_pasts).map(|_| OnceLock::new()).collect(),
        });
        aspect_idx
    }

    fn key(&mut self, key: String) -> usize {
        self.keys.iter().position(|known| *known == key).unwrap_or_else(|| {
            self.keys.push(key);
            self.keys.len() - 1
        })
    }

    pub(crate) fn want(&mut self, aspect_idx: AspectIdx, subjects: &[SubjectIdx]) {
        let is_wanted = &mut self.all[aspect_idx as usize].is_wanted;
        for subject_idx in subjects {
            is_wanted[*subject_idx as usize] = true;
        }
    }

    pub(crate) fn number(&self, aspect_idx: AspectIdx, subject_idx: SubjectIdx) -> u32 {
        self.all[aspect_idx as usize].numbers[subject_idx as usize]
    }

    /// Looks at everything that is wanted.
    pub(crate) fn look(&mut self, setting: &Setting<'_>, subjects: &Subjects, n_threads: usize) {
        let n_subjects = subjects.all.len();
        let n_chunks = n_threads.clamp(1, n_subjects.div_ceil(64).max(1));
        let chunk_len = n_subjects.div_ceil(n_chunks).max(1);
        let (all, keys) = (&self.all, &self.keys);
        let looked: Vec<Vec<(AspectIdx, SubjectIdx, u32)>> = std::thread::scope(|scope| {
            let chunks: Vec<_> = (0..n_subjects)
                .step_by(chunk_len)
                .map(|start| {
                    let end = (start + chunk_len).min(n_subjects);
                    scope.spawn(move || look_at(all, keys, setting, subjects, start..end))
                })
                .collect();
            chunks.into_iter().map(|chunk| chunk.join().unwrap_or_default()).collect()
        });
        for (aspect_idx, subject_idx, number) in looked.into_iter().flatten() {
            self.all[aspect_idx as usize].numbers[subject_idx as usize] = number;
        }
    }
}

fn is_dollar(expression: &Expression) -> bool {
    matches!(expression.program().tree.node(expression.root()), Node::Dollar)
}

fn look_at(
    all: &[Known],
    keys: &[String],
    setting: &Setting<'_>,
    subjects: &Subjects,
    range: std::ops::Range<usize>,
) -> Vec<(AspectIdx, SubjectIdx, u32)> {
    let mut looked = Vec::new();
    let mut excerpts = Excerpts { all, keys, is_read: vec![false; keys.len()], wanted: Vec::new() };
    for subject_idx in range {
        let (mut excerpt, mut whole) = (None, None);
        for (aspect_idx, known) in (0_u32..).zip(all).filter(|(_, known)| known.is_wanted[subject_idx]) {
            let subject_idx = subject_idx as SubjectIdx;
            let number = if known.is_whole {
                u32::from(subjects.has_document_changed(subject_idx))
            } else if let Some(number) = known.number_at_once(subjects, subject_idx) {
                number
            } else {
                let documents = match known.keys {
                    Some(_) => excerpt.get_or_insert_with(|| excerpts.of(subjects, subject_idx)),
                    None => whole.get_or_insert_with(|| subjects.documents(subject_idx)),
                };
                known.number(setting, subjects, documents, subject_idx)
            };
            looked.push((aspect_idx, subject_idx, number));
        }
    }
    looked
}

/// Documents with only those keys that are read: putting whole ones together takes longer than looking at them.
struct Excerpts<'a> {
    all: &'a [Known],
    keys: &'a [String],
    is_read: Vec<bool>,
    /// The keys of the last subject, in order.
    wanted: Vec<&'a str>,
}

impl Excerpts<'_> {
    fn of(&mut self, subjects: &Subjects, subject_idx: SubjectIdx) -> Documents {
        let mut is_read = vec![false; self.keys.len()];
        for known in self.all.iter().filter(|known| known.is_wanted[subject_idx as usize]) {
            for key_idx in known.keys.iter().flatten() {
                is_read[*key_idx] = true;
            }
        }
        // Neighbours mostly want the same.
        if is_read != self.is_read || self.wanted.is_empty() {
            let keys = self.keys.iter().zip(&is_read).filter(|(_, is_read)| **is_read);
            self.wanted = keys.map(|(key, _)| key.as_str()).collect();
            self.wanted.sort_unstable();
            self.is_read = is_read;
        }
        subjects.excerpt(subject_idx, &self.wanted)
    }
}

impl Known {
    /// The number, where it takes no documents put together to know it: that is most of the cost of a large fleet.
    fn number_at_once(&self, subjects: &Subjects, subject_idx: SubjectIdx) -> Option<u32> {
        let subject = &subjects.all[subject_idx as usize];
        match &self.what {
            What::Path { document: Document::Own, keys } => {
                Some(self.value_number(at_path(subject.own.value(), keys).identity()))
            }
            What::Path { document: Document::New, keys } => {
                let document = subjects.alone(subject_idx, keys.first()?)?;
                Some(self.value_number(at_path(document, keys).identity()))
            }
            What::Changed(_) => subjects.has_path_changed(subject_idx, &self.path.as_ref()?.0).map(u32::from),
            What::Path { .. } | What::Member { .. } => None,
        }
    }

    fn number(
        &self,
        setting: &Setting<'_>,
        subjects: &Subjects,
        documents: &Documents,
        subject_idx: SubjectIdx,
    ) -> u32 {
        let (own, common) = (subjects.all[subject_idx as usize].own.value(), subjects.common.value());
        match &self.what {
            What::Path { document, keys } => {
                let document = match document {
                    Document::New => &documents.new,
                    Document::Old => &documents.old,
                    Document::Own => own,
                };
                self.value_number(at_path(document, keys).identity())
            }
            What::Changed(expression) => {
                let plain = self.path.as_ref().and_then(|path| path.has_changed(documents));
                if let Some(has_changed) = plain {
                    return u32::from(has_changed);
                }
                let run = |side| setting.run(expression, common, documents, own, side);
                let Ok(new) = run(Side::New) else { return FAILED };
                if documents.are_one() {
                    // A value that is not equal to itself has changed all the same.
                    return u32::from(!same(&new, &new));
                }
                match no_value_if_failed(run(Side::Old)) {
                    Ok(Some(old)) => u32::from(!same(&old, &new)),
                    Ok(None) => TRUE,
                    Err(_) => FAILED,
                }
            }
            What::Member { item, collection } => {
                let plain = self.path.as_ref().and_then(|path| path.value(&documents.new)).cloned();
                let item = plain.map_or_else(|| setting.run(item, common, documents, own, Side::New), Ok);
                let Ok(item) = item else { return FAILED };
                let members = self.members[documents.past as usize].get_or_init(|| {
                    setting.run(collection, common, documents, own, Side::New).ok().as_ref().and_then(members)
                });
                match members {
                    Some(members) => {
                        if members.contains(&item.digest()) {
                            TRUE
                        } else {
                            FALSE
                        }
                    }
                    // Not a plain list: the item itself tells subjects apart.
                    None => self.value_number(item.identity()),
                }
            }
        }
    }

    fn value_number(&self, identity: Identity) -> u32 {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let next = FIRST_VALUE + values.len() as u32;
        *values.entry(identity).or_insert(next)
    }
}

/// `$.a.b` and nothing else.
#[derive(Debug)]
struct PlainPath(Vec<String>);

impl PlainPath {
    fn of(what: &What) -> Option<Self> {
        let (What::Changed(expression) | What::Member { item: expression, .. }) = what else { return None };
        let tree = &expression.program().tree;
        let (mut node, mut keys) = (expression.root(), Vec::new());
        loop {
            node = match *tree.node(node) {
                Node::Dollar => break,
                Node::Paren(inner) => inner,
                Node::Member { receiver, key, safe: false, .. } => {
                    keys.push(tree.text(key).to_owned());
                    receiver
                }
                _ => return None,
            };
        }
        keys.reverse();
        (!keys.is_empty()).then_some(Self(keys))
    }

    /// The value there; none where the language would do more than look.
    fn value<'d>(&self, document: &'d Value) -> Option<&'d Value> {
        self.0.iter().try_fold(document, |value, key| value.as_map()?.get_str(key))
    }

    /// Whether it has changed; none where that takes an evaluation.
    fn has_changed(&self, documents: &Documents) -> Option<bool> {
        let new = self.value(&documents.new)?;
        let old = self.value(&documents.old)?;
        Some(!same(old, new))
    }
}

/// The members of a list or set of scalars.
fn members(collection: &Value) -> Option<HashSet<Digest>> {
    let is_scalar = |value: &&Value| value.depth() == 0;
    match collection {
        Value::Tuple(items) | Value::List(items) => {
            items.iter().all(|item| is_scalar(&item)).then(|| items.iter().map(Value::digest).collect())
        }
        _ => None,
    }
}

/// What is at a path, or how far it goes: what a reader of the path may have seen.
fn at_path(document: &Value, keys: &[String]) -> Value {
    let mut value = document;
    for (depth, key) in keys.iter().enumerate() {
        // The path ends early where there is no map: whoever reads on reads all of what is there.
        let Some(map) = value.as_map() else { break };
        match map.get_str(key) {
            Some(inner) => value = inner,
            // As unlike anything in a document as can be.
            None => return Value::tuple(vec!["\0missing".into(), depth.into()]),
        }
    }
    value.clone()
}
