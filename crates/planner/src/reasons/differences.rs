//! Differences between two values, with secrets masked.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use stoker_state::is_secret;
use stoker_yaql::Value;
use stoker_yaql::value::Digest;

use super::secrets::{MASK, masked_text};
use crate::yaql_ext::same::same;

/// A path at which the new value differs from the old one; secrets are masked.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Difference {
    /// Path of the changed value, such as `public_ssl.hostname` or `nodes[3]`.
    pub path: String,
    /// Absent if the path was added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// Absent if the path was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.old, &self.new) {
            (Some(old), Some(new)) if old == new => {
                write!(f, "{} changed: {old}", self.path)
            }
            (Some(old), Some(new)) => write!(f, "{} changed from {old} to {new}", self.path),
            (None, Some(new)) => write!(f, "{} added: {new}", self.path),
            (Some(old), None) => write!(f, "{} removed: {old}", self.path),
            (None, None) => f.write_str(&self.path),
        }
    }
}

/// Where the compared values come from; decides how much of them may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiffSource {
    /// States: secrets are recognizable by their key names.
    State,
    /// Task parameters: a text can be a whole file that contains secrets without key names.
    Parameters,
}

impl DiffSource {
    /// Maximum number of differences to list.
    const fn n_max(self) -> usize {
        match self {
            Self::State => 3,
            Self::Parameters => 10,
        }
    }

    fn text(self, value: &Value) -> String {
        const LEN_MAX: usize = 60;
        match (self, value.as_str()) {
            (Self::Parameters, Some(text)) if text.len() > LEN_MAX || text.contains('\n') => {
                format!("(text of {} characters)", text.chars().count())
            }
            _ => masked_text(value),
        }
    }
}

/// The first differences, and the total number of differences.
pub(crate) fn differences(path: &str, old: &Value, new: &Value, source: DiffSource) -> Listed {
    DifferenceCache::new(source).differences(path, old, new)
}

type Listed = (Vec<Difference>, usize);

/// Cache of differences between large values that many nodes share, such as the list of all nodes.
///
/// Keyed by address. The cache holds the values, so an address cannot be reused while it is cached.
#[derive(Debug)]
pub(super) struct DifferenceCache {
    source: DiffSource,
    entries: Mutex<Vec<(String, Value, Value, Listed)>>,
}

impl DifferenceCache {
    /// Minimum length of a cached collection: smaller ones are compared faster than looked up.
    const LEN_MIN: usize = 64;
    /// Maximum number of entries; the common document has few large parts.
    const ENTRIES_MAX: usize = 32;

    pub(super) fn new(source: DiffSource) -> Self {
        Self { source, entries: Mutex::default() }
    }

    pub(super) fn differences(&self, path: &str, old: &Value, new: &Value) -> Listed {
        let mut comparer = Comparer { cache: self, listed: Vec::new(), n_total: 0 };
        let is_masked = path.split(['.', '[']).any(is_secret);
        comparer.compare(path, Some(old), Some(new), is_masked);
        (comparer.listed, comparer.n_total)
    }

    fn find(&self, path: &str, old: &Value, new: &Value) -> Option<Listed> {
        let entries = self.entries.lock();
        let is_match = |(cached_path, cached_old, cached_new, _): &&(String, Value, Value, Listed)| {
            address(cached_old) == address(old) && address(cached_new) == address(new) && cached_path == path
        };
        entries.iter().find(is_match).map(|(.., listed)| listed.clone())
    }

    fn insert(&self, path: &str, old: &Value, new: &Value, listed: Listed) {
        let mut entries = self.entries.lock();
        if entries.len() < Self::ENTRIES_MAX {
            entries.push((path.to_owned(), old.clone(), new.clone(), listed));
        }
    }
}

/// Address of a collection; `None` for other values.
fn address(value: &Value) -> Option<usize> {
    match value {
        Value::Tuple(items) | Value::List(items) => Some(Arc::as_ptr(items).addr()),
        Value::FrozenDict(map) | Value::Dict(map) => Some(Arc::as_ptr(map).addr()),
        _ => None,
    }
}

struct Comparer<'k> {
    cache: &'k DifferenceCache,
    listed: Vec<Difference>,
    n_total: usize,
}

impl Comparer<'_> {
    fn compare(&mut self, path: &str, old: Option<&Value>, new: Option<&Value>, is_masked: bool) {
        let (Some(a), Some(b)) = (old, new) else { return self.report(path, old, new, is_masked) };
        let is_large = |value: &Value| {
            address(value).is_some() && value.sized_len().is_some_and(|len| len >= DifferenceCache::LEN_MIN)
        };
        if is_masked || path.is_empty() || !is_large(a) || !is_large(b) {
            return self.descend(path, a, b, is_masked);
        }
        let (mut listed, n_total) = self.cache.find(path, a, b).unwrap_or_else(|| {
            let mut comparer = Comparer { cache: self.cache, listed: Vec::new(), n_total: 0 };
            comparer.descend(path, a, b, is_masked);
            self.cache.insert(path, a, b, (comparer.listed.clone(), comparer.n_total));
            (comparer.listed, comparer.n_total)
        });
        listed.truncate(self.cache.source.n_max() - self.listed.len());
        self.listed.append(&mut listed);
        self.n_total += n_total;
    }

    fn descend(&mut self, path: &str, a: &Value, b: &Value, is_masked: bool) {
        if same(a, b) {
            return;
        }
        let (old, new) = (Some(a), Some(b));
        if let (Some(a), Some(b)) = (a.as_map(), b.as_map()) {
            let value = |map: &stoker_yaql::value::Map, key: &Value| map.get(key).ok().flatten().cloned();
            for (key, old) in a.iter() {
                let (new, name) = (value(b, key), name(key));
                self.compare(&step(path, &name), Some(old), new.as_ref(), is_masked || is_secret(&name));
            }
            for (key, new) in b.iter().filter(|(key, _)| value(a, key).is_none()) {
                let name = name(key);
                self.report(&step(path, &name), None, Some(new), is_masked || is_secret(&name));
            }
            return;
        }
        match (a.as_seq(), b.as_seq()) {
            (Some(a), Some(b)) if a.len() == b.len() => {
                for (item_idx, (a, b)) in a.iter().zip(b.iter()).enumerate() {
                    self.compare(&format!("{path}[{item_idx}]"), Some(a), Some(b), is_masked);
                }
            }
            (Some(a), Some(b)) => self.compare_items(path, a, b, is_masked),
            _ => self.report(path, old, new, is_masked),
        }
    }

    /// Reports items that only one of two lists contains.
    fn compare_items(&mut self, path: &str, old: &[Value], new: &[Value], is_masked: bool) {
        let digests = |items: &[Value]| items.iter().map(Value::digest).collect::<HashSet<Digest>>();
        let (in_old, in_new) = (digests(old), digests(new));
        let n_before = self.n_total;
        for (item_idx, item) in old.iter().enumerate().filter(|(_, item)| !in_new.contains(&item.digest())) {
            self.report(&format!("{path}[{item_idx}]"), Some(item), None, is_masked);
        }
        for (item_idx, item) in new.iter().enumerate().filter(|(_, item)| !in_old.contains(&item.digest())) {
            self.report(&format!("{path}[{item_idx}]"), None, Some(item), is_masked);
        }
        if self.n_total == n_before {
            // Only the multiplicity of equal items differs.
            let count = |items: &[Value]| Value::from(items.len());
            self.report(&format!("{path}.length"), Some(&count(old)), Some(&count(new)), false);
        }
    }

    fn report(&mut self, path: &str, old: Option<&Value>, new: Option<&Value>, is_masked: bool) {
        self.n_total += 1;
        if self.listed.len() < self.cache.source.n_max() {
            let text =
                |value: &Value| if is_masked { MASK.to_owned() } else { self.cache.source.text(value) };
            let (old, new) = (old.map(text), new.map(text));
            self.listed.push(Difference { path: path.to_owned(), old, new });
        }
    }
}

fn name(key: &Value) -> String {
    key.as_str().map_or_else(|| masked_text(key), str::to_owned)
}

fn step(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
