//! Merging of options, which are identified by `data`.

use std::collections::{BTreeMap, BTreeSet};

use stoker_model::{Json, JsonMap};

use super::canonical::canonical;
use super::conflict::kinds;
use super::mix::Mixer;

impl Mixer<'_> {
    /// Appends the options of a plugin; `path` is that of the list.
    pub(super) fn merge_options(&mut self, base: &mut Vec<Json>, options: &[Json], path: &str) {
        let mut indexes: BTreeMap<String, usize> = BTreeMap::new();
        for (idx, option) in base.iter().enumerate() {
            if let Some(data) = option.get("data") {
                indexes.entry(canonical(data)).or_insert(idx);
            }
        }
        let mut data_keys: BTreeSet<String> = BTreeSet::new();
        for option in options {
            let map = option.as_object();
            let entry = map.and_then(|map| Some((map, map.get("data").filter(|data| !data.is_null())?)));
            let Some((map, data)) = entry else {
                self.plugin_error(path.to_owned(), kinds::MISSING_DATA);
                continue;
            };
            let key = canonical(data);
            if !data_keys.insert(key.clone()) {
                self.plugin_error(option_path(path, data), kinds::DUPLICATE_OPTION);
                continue;
            }
            let idx = *indexes.entry(key).or_insert(base.len());
            self.merge_option(base, idx, map, data, path);
        }
    }

    /// Merges an option into a list. `idx` is the position of the option with this `data`, or the end of the
    /// list.
    fn merge_option(&mut self, base: &mut Vec<Json>, idx: usize, option: &JsonMap, data: &Json, list: &str) {
        let path = &option_path(list, data);
        // Serialized as JSON, so that `"1"` and `1` are different options.
        let key = format!("{list}[{data}]");
        match base.get_mut(idx).and_then(Json::as_object_mut) {
            None => {
                let mut added = JsonMap::new();
                self.record_origin(path.clone());
                self.merge_map(&mut added, option, path);
                if let Some(component) = &self.linked {
                    added.entry("component").or_insert_with(|| Json::from(&**component));
                }
                base.push(Json::Object(added));
                self.owners.insert(key, self.plugin.to_owned());
            }
            Some(_) if self.owners.contains_key(&key) => self.conflict(path.clone(), kinds::DUPLICATE_OPTION),
            // An option of the release may be extended but not changed.
            Some(known) => self.merge_map(known, option, path),
        }
    }
}

/// Returns a human-readable path: `Network.manager.values[vlan]`.
fn option_path(list: &str, data: &Json) -> String {
    match data {
        Json::String(text) => format!("{list}[{text}]"),
        other => format!("{list}[{other}]"),
    }
}
