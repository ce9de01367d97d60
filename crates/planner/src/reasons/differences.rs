//! Where two values differ.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use stoker_yaql::Value;
use stoker_yaql::value::Digest;

use super::secrets::{MASK, is_secret, shown};
use crate::yaql_ext::same::same;

/// A place at which the new state differs from the old one, with secrets masked.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Difference {
    /// As in `public_ssl.hostname` or `nodes[3]`.
    pub path: String,
    /// Not there if there was nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// Not there if there is nothing any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.old, &self.new) {
            (Some(old), Some(new)) if old == new => write!(f, "{} is another {old}", self.path),
            (Some(old), Some(new)) => write!(f, "{} was {old} and is {new}", self.path),
            (None, Some(new)) => write!(f, "{} is new: {new}", self.path),
            (Some(old), None) => write!(f, "{} is gone: {old}", self.path),
            (None, None) => f.write_str(&self.path),
        }
    }
}

/// What is compared, which says how much of it may be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// States: values have names that tell secrets.
    State,
    /// Parameters of tasks: a text can be a whole file, with secrets in it that have no name.
    Parameters,
}

impl Told {
    /// How many differences are worth telling.
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
            _ => shown(value),
        }
    }
}

/// The first differences, and how many there are in all.
pub(crate) fn differences(path: &str, old: &Value, new: &Value, told: Told) -> Found {
    KnownDifferences::new(told).differences(path, old, new)
}

type Found = (Vec<Difference>, usize);

/// Differences between large values that many nodes share, such as the list of all nodes.
///
/// Values are known by their addresses, and kept so that these are not used again.
#[derive(Debug)]
pub(super) struct KnownDifferences {
    told: Told,
    known: Mutex<Vec<(String, Value, Value, Found)>>,
}

impl KnownDifferences {
    /// Smaller values are compared faster than found here.
    const LEN_MIN: usize = 64;
    /// What all nodes have in common has few parts.
    const KNOWN_MAX: usize = 32;

    pub(super) fn new(told: Told) -> Self {
        Self { told, known: Mutex::default() }
    }

    pub(super) fn differences(&self, path: &str, old: &Value, new: &Value) -> Found {
        let mut walk = Walk { known: self, found: Vec::new(), n_found: 0 };
        let is_masked = path.split(['.', '[']).any(is_secret);
        walk.compare(path, Some(old), Some(new), is_masked);
        (walk.found, walk.n_found)
    }

    fn find(&self, path: &str, old: &Value, new: &Value) -> Option<Found> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_meant = |(known_path, known_old, known_new, _): &&(String, Value, Value, Found)| {
            address(known_old) == address(old) && address(known_new) == address(new) && known_path == path
        };
        known.iter().find(is_meant).map(|(.., found)| found.clone())
    }

    fn keep(&self, path: &str, old: &Value, new: &Value, found: Found) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < Self::KNOWN_MAX {
            known.push((path.to_owned(), old.clone(), new.clone(), found));
        }
    }
}

/// Where a collection is kept; none for what is no collection.
fn address(value: &Value) -> Option<usize> {
    match value {
        Value::Tuple(items) | Value::List(items) => Some(Arc::as_ptr(items).addr()),
        Value::FrozenDict(map) | Value::Dict(map) => Some(Arc::as_ptr(map).addr()),
        _ => None,
    }
}

struct Walk<'k> {
    known: &'k KnownDifferences,
    found: Vec<Difference>,
    n_found: usize,
}

impl Walk<'_> {
    fn compare(&mut self, path: &str, old: Option<&Value>, new: Option<&Value>, is_masked: bool) {
        let (Some(a), Some(b)) = (old, new) else { return self.note(path, old, new, is_masked) };
        let is_large = |value: &Value| {
            address(value).is_some() && value.sized_len().is_some_and(|len| len >= KnownDifferences::LEN_MIN)
        };
        if is_masked || path.is_empty() || !is_large(a) || !is_large(b) {
            return self.walk(path, a, b, is_masked);
        }
        let (mut found, n_found) = self.known.find(path, a, b).unwrap_or_else(|| {
            let mut walk = Walk { known: self.known, found: Vec::new(), n_found: 0 };
            walk.walk(path, a, b, is_masked);
            self.known.keep(path, a, b, (walk.found.clone(), walk.n_found));
            (walk.found, walk.n_found)
        });
        found.truncate(self.known.told.n_max() - self.found.len());
        self.found.append(&mut found);
        self.n_found += n_found;
    }

    fn walk(&mut self, path: &str, a: &Value, b: &Value, is_masked: bool) {
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
                self.note(&step(path, &name), None, Some(new), is_masked || is_secret(&name));
            }
            return;
        }
        match (a.as_seq(), b.as_seq()) {
            (Some(a), Some(b)) if a.len() == b.len() => {
                for (item_idx, (a, b)) in a.iter().zip(b.iter()).enumerate() {
                    self.compare(&format!("{path}[{item_idx}]"), Some(a), Some(b), is_masked);
                }
            }
            (Some(a), Some(b)) => self.items(path, a, b, is_masked),
            _ => self.note(path, old, new, is_masked),
        }
    }

    /// Items that only one of two lists has.
    fn items(&mut self, path: &str, old: &[Value], new: &[Value], is_masked: bool) {
        let digests = |items: &[Value]| items.iter().map(Value::digest).collect::<HashSet<Digest>>();
        let (in_old, in_new) = (digests(old), digests(new));
        let n_before = self.n_found;
        for (item_idx, item) in old.iter().enumerate().filter(|(_, item)| !in_new.contains(&item.digest())) {
            self.note(&format!("{path}[{item_idx}]"), Some(item), None, is_masked);
        }
        for (item_idx, item) in new.iter().enumerate().filter(|(_, item)| !in_old.contains(&item.digest())) {
            self.note(&format!("{path}[{item_idx}]"), None, Some(item), is_masked);
        }
        if self.n_found == n_before {
            // Only how often something is in them differs.
            let count = |items: &[Value]| Value::from(items.len());
            self.note(&format!("{path}.length"), Some(&count(old)), Some(&count(new)), false);
        }
    }

    fn note(&mut self, path: &str, old: Option<&Value>, new: Option<&Value>, is_masked: bool) {
        self.n_found += 1;
        if self.found.len() < self.known.told.n_max() {
            let text = |value: &Value| if is_masked { MASK.to_owned() } else { self.known.told.text(value) };
            let (old, new) = (old.map(text), new.map(text));
            self.found.push(Difference { path: path.to_owned(), old, new });
        }
    }
}

fn name(key: &Value) -> String {
    key.as_str().map_or_else(|| shown(key), str::to_owned)
}

fn step(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
