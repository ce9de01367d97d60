//! Where two values differ.

use std::collections::HashSet;
use std::fmt;

use stoker_yaql::Value;
use stoker_yaql::value::Digest;

use super::secrets::{MASK, is_secret, shown};
use crate::yaql_ext::same::same;

/// A place at which the new state differs from the old one, with secrets masked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// As in `public_ssl.hostname` or `nodes[3]`.
    pub path: String,
    /// Not there if there was nothing.
    pub old: Option<String>,
    /// Not there if there is nothing any more.
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

/// How many differences are worth telling.
pub(super) const TOLD_MAX: usize = 3;

/// The first differences, and how many there are in all.
pub(super) fn differences(path: &str, old: &Value, new: &Value) -> (Vec<Difference>, usize) {
    let mut walk = Walk { found: Vec::new(), n_found: 0 };
    let is_masked = path.split(['.', '[']).any(is_secret);
    walk.compare(path, Some(old), Some(new), is_masked);
    (walk.found, walk.n_found)
}

struct Walk {
    found: Vec<Difference>,
    n_found: usize,
}

impl Walk {
    fn compare(&mut self, path: &str, old: Option<&Value>, new: Option<&Value>, is_masked: bool) {
        let (Some(a), Some(b)) = (old, new) else { return self.note(path, old, new, is_masked) };
        if same(a, b) {
            return;
        }
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
        if self.found.len() < TOLD_MAX {
            let text = |value: &Value| if is_masked { MASK.to_owned() } else { shown(value) };
            self.found.push(Difference { path: path.to_owned(), old: old.map(text), new: new.map(text) });
        }
    }
}

fn name(key: &Value) -> String {
    key.as_str().map_or_else(|| shown(key), str::to_owned)
}

fn step(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
