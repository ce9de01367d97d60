//! Merging of `bind` lists.

use std::collections::{BTreeMap, BTreeSet};

use stoker_model::Json;

use super::canonical::canonical;
use super::conflict::kinds;
use super::mix::Mixer;

impl Mixer<'_> {
    /// Converts both sides to lists and appends new items. Setting one path to two values is a conflict.
    pub(super) fn merge_bind(&mut self, old: &mut Json, addition: &Json, path: &str) {
        if old.is_string() && old == addition {
            return;
        }
        let mut items = as_list(old);
        let mut canonical_items: BTreeSet<String> = items.iter().map(canonical).collect();
        let mut bound = Bound::default();
        for item in &items {
            bound.add(item);
        }
        for item in as_list(addition) {
            if !canonical_items.insert(canonical(&item)) {
                continue;
            }
            let clashing = bound.clashing(&item);
            if clashing.is_empty() {
                for path_set in item.as_object().into_iter().flat_map(|map| map.keys()) {
                    self.record_origin(format!("{path}.{path_set}"));
                }
                bound.add(&item);
                items.push(item);
            }
            for path_set in clashing {
                self.conflict(format!("{path}.{path_set}"), kinds::BIND);
            }
        }
        *old = Json::Array(items);
    }
}

fn as_list(bind: &Json) -> Vec<Json> {
    match bind {
        Json::Array(items) => items.clone(),
        other => vec![other.clone()],
    }
}

/// Values set for each path.
#[derive(Default)]
struct Bound {
    values: BTreeMap<String, BTreeSet<String>>,
}

impl Bound {
    fn add(&mut self, item: &Json) {
        for (path, value) in item.as_object().into_iter().flatten() {
            self.values.entry(path.clone()).or_default().insert(canonical(value));
        }
    }

    /// Returns the paths that an item sets to a different value than earlier items.
    fn clashing(&self, item: &Json) -> Vec<String> {
        let is_different = |path: &str, value: &Json| {
            let value = canonical(value);
            self.values.get(path).is_some_and(|values| values.iter().any(|other| *other != value))
        };
        let entries = item.as_object().into_iter().flatten();
        entries.filter(|(path, value)| is_different(path, value)).map(|(path, _)| path.clone()).collect()
    }
}
