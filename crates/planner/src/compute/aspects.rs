//! Values of aspects: the per-node inputs of expressions, computed once per subject.
//!
//! For each aspect every subject gets a number; equal numbers mean that the subjects do not differ in that
//! aspect. The aspects of all expressions are computed in one pass, so that a node's document is assembled
//! only once.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use parking_lot::Mutex;
use stoker_yaql::syntax::Node;
use stoker_yaql::value::{Digest, ExactDigest};
use stoker_yaql::{Expression, Value};

use super::dependencies::{Aspect, AspectKind, Document};
use super::evaluator::{EvalSettings, Side, joined};
use super::subjects::{Documents, SubjectIdx, Subjects};
use crate::yaql_ext::missing::{is_missing_path, lacks_path};
use crate::yaql_ext::same::same;
use crate::yaql_ext::scope::none_if_failed;

/// Index into [`Aspects`].
pub(crate) type AspectIdx = u32;

const FALSE: u32 = 0;
const TRUE: u32 = 1;
const FAILED: u32 = 2;
/// Paths that neither state has, or only the old one: unchanged and changed, with reasons of their own.
const MISSING: u32 = 3;
const GONE: u32 = 4;
/// Values are interned as numbers from here on; the lower ones are boolean results, failure and missing paths.
const FIRST_VALUE: u32 = 5;

#[derive(Debug)]
pub(crate) struct Aspects {
    all: Vec<Entry>,
    by_name: HashMap<String, AspectIdx>,
    /// Union of the keys that the aspects read, in order of first use.
    keys: Vec<String>,
}

#[derive(Debug)]
struct Entry {
    kind: AspectKind,
    /// Set if the aspect refers to a plain path: a lookup is faster than an evaluation.
    path: Option<PlainPath>,
    /// Whether the aspect is `changed($)`, about the whole document.
    is_whole: bool,
    /// Indices of the top-level keys it reads; `None`: the whole document.
    keys: Option<Vec<usize>>,
    /// For each subject, whether its number is needed.
    is_requested: Vec<bool>,
    /// Indexed by subject.
    numbers: Vec<u32>,
    values: Mutex<HashMap<ExactDigest, u32>>,
    /// For each past, the members of the collection; the inner `None` if the collection is not a plain list of
    /// scalars.
    members: Vec<OnceLock<Option<HashSet<Digest>>>>,
}

impl Aspects {
    pub(crate) fn new() -> Self {
        Self { all: Vec::new(), by_name: HashMap::new(), keys: Vec::new() }
    }

    pub(crate) fn add(&mut self, aspect: Aspect, n_subjects: usize, n_pasts: usize) -> AspectIdx {
        let name = aspect.kind.name();
        if let Some(entry) = self.by_name.get(&name) {
            return *entry;
        }
        let aspect_idx = self.all.len() as AspectIdx;
        self.by_name.insert(name, aspect_idx);
        let keys = aspect.keys.map(|keys| keys.into_iter().map(|key| self.key(key)).collect());
        self.all.push(Entry {
            is_whole: matches!(&aspect.kind, AspectKind::Changed(expression) if is_whole_document(expression)),
            path: PlainPath::of(&aspect.kind),
            kind: aspect.kind,
            keys,
            is_requested: vec![false; n_subjects],
            numbers: vec![0; n_subjects],
            values: Mutex::default(),
            members: (0..n_pasts).map(|_| OnceLock::new()).collect(),
        });
        aspect_idx
    }

    fn key(&mut self, key: String) -> usize {
        self.keys.iter().position(|entry| *entry == key).unwrap_or_else(|| {
            self.keys.push(key);
            self.keys.len() - 1
        })
    }

    pub(crate) fn request(&mut self, aspect_idx: AspectIdx, subjects: &[SubjectIdx]) {
        let is_requested = &mut self.all[aspect_idx as usize].is_requested;
        for subject_idx in subjects {
            is_requested[*subject_idx as usize] = true;
        }
    }

    pub(crate) fn number(&self, aspect_idx: AspectIdx, subject_idx: SubjectIdx) -> u32 {
        self.all[aspect_idx as usize].numbers[subject_idx as usize]
    }

    /// Computes the numbers of all requested pairs of aspect and subject.
    pub(crate) fn compute(&mut self, setting: &EvalSettings<'_>, subjects: &Subjects, n_threads: usize) {
        let n_subjects = subjects.all.len();
        let n_chunks = n_threads.clamp(1, n_subjects.div_ceil(64).max(1));
        let chunk_len = n_subjects.div_ceil(n_chunks).max(1);
        let (all, keys) = (&self.all, &self.keys);
        if n_chunks == 1 {
            let numbers = compute_range(all, keys, setting, subjects, 0..n_subjects);
            return self.set(numbers);
        }
        let numbers: Vec<Vec<(AspectIdx, SubjectIdx, u32)>> = std::thread::scope(|scope| {
            let chunks: Vec<_> = (0..n_subjects)
                .step_by(chunk_len)
                .map(|start| {
                    let end = (start + chunk_len).min(n_subjects);
                    scope.spawn(move || compute_range(all, keys, setting, subjects, start..end))
                })
                .collect();
            chunks.into_iter().map(joined).collect()
        });
        for numbers in numbers {
            self.set(numbers);
        }
    }

    fn set(&mut self, numbers: Vec<(AspectIdx, SubjectIdx, u32)>) {
        for (aspect_idx, subject_idx, number) in numbers {
            self.all[aspect_idx as usize].numbers[subject_idx as usize] = number;
        }
    }
}

fn is_whole_document(expression: &Expression) -> bool {
    matches!(expression.program().tree.node(expression.root()), Node::Dollar)
}

fn compute_range(
    all: &[Entry],
    keys: &[String],
    setting: &EvalSettings<'_>,
    subjects: &Subjects,
    range: std::ops::Range<usize>,
) -> Vec<(AspectIdx, SubjectIdx, u32)> {
    let mut numbers = Vec::new();
    let mut excerpts = Excerpts { all, keys, is_read: vec![false; keys.len()], sorted_keys: Vec::new() };
    for subject_idx in range {
        let (mut excerpt, mut whole) = (None, None);
        for (aspect_idx, entry) in (0_u32..).zip(all).filter(|(_, entry)| entry.is_requested[subject_idx]) {
            let subject_idx = subject_idx as SubjectIdx;
            let number = if entry.is_whole {
                u32::from(subjects.has_document_changed(subject_idx))
            } else if let Some(number) = entry.number_without_documents(subjects, subject_idx) {
                number
            } else {
                let documents = match entry.keys {
                    Some(_) => excerpt.get_or_insert_with(|| excerpts.of(subjects, subject_idx)),
                    None => whole.get_or_insert_with(|| subjects.documents(subject_idx)),
                };
                entry.number(setting, subjects, documents, subject_idx)
            };
            numbers.push((aspect_idx, subject_idx, number));
        }
    }
    numbers
}

/// Builds documents with only the keys that are read: assembling whole documents costs more than evaluating
/// over them.
struct Excerpts<'a> {
    all: &'a [Entry],
    keys: &'a [String],
    is_read: Vec<bool>,
    /// The keys of the last subject, sorted.
    sorted_keys: Vec<&'a str>,
}

impl Excerpts<'_> {
    fn of(&mut self, subjects: &Subjects, subject_idx: SubjectIdx) -> Documents {
        let mut is_read = vec![false; self.keys.len()];
        for entry in self.all.iter().filter(|entry| entry.is_requested[subject_idx as usize]) {
            for key_idx in entry.keys.iter().flatten() {
                is_read[*key_idx] = true;
            }
        }
        // Adjacent subjects usually need the same keys.
        if is_read != self.is_read || self.sorted_keys.is_empty() {
            let keys = self.keys.iter().zip(&is_read).filter(|(_, is_read)| **is_read);
            self.sorted_keys = keys.map(|(key, _)| key.as_str()).collect();
            self.sorted_keys.sort_unstable();
            self.is_read = is_read;
        }
        subjects.excerpt(subject_idx, &self.sorted_keys)
    }
}

impl Entry {
    /// The number, if it can be computed without assembling documents. In a large fleet assembly dominates
    /// the cost.
    fn number_without_documents(&self, subjects: &Subjects, subject_idx: SubjectIdx) -> Option<u32> {
        let subject = &subjects.all[subject_idx as usize];
        match &self.kind {
            AspectKind::Path { document: Document::Own, keys } => {
                Some(self.value_number(at_path(subject.own.value(), keys).identity()))
            }
            AspectKind::Path { document: Document::New, keys } => {
                let document = subjects.sole_document(subject_idx, keys.first()?)?;
                Some(self.value_number(at_path(document, keys).identity()))
            }
            AspectKind::Changed(_) => {
                subjects.has_path_changed(subject_idx, &self.path.as_ref()?.0).map(u32::from)
            }
            AspectKind::Path { .. } | AspectKind::Member { .. } => None,
        }
    }

    fn number(
        &self,
        setting: &EvalSettings<'_>,
        subjects: &Subjects,
        documents: &Documents,
        subject_idx: SubjectIdx,
    ) -> u32 {
        let (own, common) = (subjects.all[subject_idx as usize].own.value(), subjects.common.value());
        match &self.kind {
            AspectKind::Path { document, keys } => {
                let document = match document {
                    Document::New => &documents.new,
                    Document::Old => &documents.old,
                    Document::Own => own,
                };
                self.value_number(at_path(document, keys).identity())
            }
            AspectKind::Changed(expression) => {
                let by_lookup = self.path.as_ref().and_then(|path| path.has_changed(documents));
                if let Some(has_changed) = by_lookup {
                    return u32::from(has_changed);
                }
                let run = |side| setting.run(expression, common, documents, own, side);
                let new = match run(Side::New) {
                    Ok(new) => new,
                    Err(error) => {
                        let (tree, root) = (&expression.program().tree, expression.root());
                        if !is_missing_path(&error, tree, root, &documents.new) {
                            return FAILED;
                        }
                        return if lacks_path(tree, root, &documents.old) { MISSING } else { GONE };
                    }
                };
                if documents.are_identical() {
                    // A value that is not equal to itself, such as NaN, counts as changed.
                    return u32::from(!same(&new, &new));
                }
                match none_if_failed(run(Side::Old)) {
                    Ok(Some(old)) => u32::from(!same(&old, &new)),
                    Ok(None) => TRUE,
                    Err(_) => FAILED,
                }
            }
            AspectKind::Member { item, collection } => {
                let by_lookup = self.path.as_ref().and_then(|path| path.value(&documents.new)).cloned();
                let item = by_lookup.map_or_else(|| setting.run(item, common, documents, own, Side::New), Ok);
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
                    // Not a plain list of scalars: fall back to distinguishing subjects by the item itself.
                    None => self.value_number(item.identity()),
                }
            }
        }
    }

    fn value_number(&self, identity: ExactDigest) -> u32 {
        let mut values = self.values.lock();
        let next = FIRST_VALUE + values.len() as u32;
        *values.entry(identity).or_insert(next)
    }
}

/// A path of the form `$.a.b`.
#[derive(Debug)]
struct PlainPath(Vec<String>);

impl PlainPath {
    fn of(kind: &AspectKind) -> Option<Self> {
        let (AspectKind::Changed(expression) | AspectKind::Member { item: expression, .. }) = kind else {
            return None;
        };
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

    /// The value at the path; `None` where the language does more than a map lookup.
    fn value<'d>(&self, document: &'d Value) -> Option<&'d Value> {
        self.0.iter().try_fold(document, |value, key| value.as_map()?.get_str(key))
    }

    /// Whether the value changed; `None` if that takes an evaluation.
    fn has_changed(&self, documents: &Documents) -> Option<bool> {
        let new = self.value(&documents.new)?;
        let old = self.value(&documents.old)?;
        Some(!same(old, new))
    }
}

/// Digests of the members of a list of scalars; `None` for other values.
fn members(collection: &Value) -> Option<HashSet<Digest>> {
    let is_scalar = |value: &&Value| value.depth() == 0;
    match collection {
        Value::Tuple(items) | Value::List(items) => {
            items.iter().all(|item| is_scalar(&item)).then(|| items.iter().map(Value::digest).collect())
        }
        _ => None,
    }
}

/// The value at a path, or the deepest value on the way to it: everything that reading the path can observe.
fn at_path(document: &Value, keys: &[String]) -> Value {
    let mut value = document;
    for (depth, key) in keys.iter().enumerate() {
        // Sentinels that no document contains: reading on fails or projects, unlike the same value at the end of the path.
        let Some(map) = value.as_map() else {
            // The result of the expression may depend on all of that value.
            return Value::tuple(vec!["\0end".into(), depth.into(), value.clone()]);
        };
        match map.get_str(key) {
            Some(inner) => value = inner,
            None => return Value::tuple(vec!["\0missing".into(), depth.into()]),
        }
    }
    value.clone()
}
