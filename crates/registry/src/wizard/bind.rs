//! What choosing something sets, joined.

use stoker_model::Json;

use super::conflict::kinds;
use super::mix::Mixer;

impl Mixer<'_> {
    /// Both sides as lists, items that are new behind. Setting one path to two values is a conflict.
    pub(super) fn merge_bind(&mut self, old: &mut Json, addition: &Json, path: &str) {
        if old.is_string() && old == addition {
            return;
        }
        let mut items = as_list(old);
        for item in as_list(addition) {
            if items.contains(&item) {
                continue;
            }
            let clashing = clashing_paths(&items, &item);
            if clashing.is_empty() {
                items.push(item);
            }
            for bound in clashing {
                self.conflict(format!("{path}.{bound}"), kinds::BIND);
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

/// Paths that an item sets to something else than the items so far.
fn clashing_paths(items: &[Json], item: &Json) -> Vec<String> {
    let set = |path: &str, value: &Json| {
        let known = items.iter().filter_map(|known| known.as_object()?.get(path));
        known.into_iter().any(|known| known != value)
    };
    let entries = item.as_object().into_iter().flatten();
    entries.filter(|(path, value)| set(path, value)).map(|(path, _)| path.clone()).collect()
}
