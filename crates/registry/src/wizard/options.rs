//! Options of a control, known by their `data`.

use std::collections::{BTreeMap, BTreeSet};

use stoker_model::{Json, JsonMap};

use super::canonical::canonical;
use super::conflict::kinds;
use super::mix::Mixer;

impl Mixer<'_> {
    /// Lays the options of a plugin behind those that are there; `path` leads to the list.
    pub(super) fn merge_options(&mut self, base: &mut Vec<Json>, options: &[Json], path: &str) {
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for (place, known) in base.iter().enumerate() {
            if let Some(data) = known.get("data") {
                places.entry(canonical(data)).or_insert(place);
            }
        }
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for option in options {
            let map = option.as_object();
            let given = map.and_then(|map| Some((map, map.get("data").filter(|data| !data.is_null())?)));
            let Some((map, data)) = given else {
                self.mistake(path.to_owned(), kinds::MISSING_DATA);
                continue;
            };
            let key = canonical(data);
            if !seen.insert(key.clone()) {
                self.mistake(option_path(path, data), kinds::DUPLICATE_OPTION);
                continue;
            }
            let place = *places.entry(key).or_insert(base.len());
            self.merge_option(base, place, map, data, path);
        }
    }

    /// `place` is where the option with this `data` is, or will be.
    fn merge_option(
        &mut self,
        base: &mut Vec<Json>,
        place: usize,
        option: &JsonMap,
        data: &Json,
        list: &str,
    ) {
        let path = &option_path(list, data);
        // As JSON, `"1"` and `1` are two owners' options.
        let key = format!("{list}[{data}]");
        match base.get_mut(place).and_then(Json::as_object_mut) {
            None => {
                let mut added = JsonMap::new();
                self.note_origin(path.clone());
                self.merge_map(&mut added, option, path);
                if let Some(component) = &self.linked {
                    added.entry("component").or_insert_with(|| Json::from(&**component));
                }
                base.push(Json::Object(added));
                self.owners.insert(key, self.plugin.to_owned());
            }
            Some(_) if self.owners.contains_key(&key) => self.conflict(path.clone(), kinds::DUPLICATE_OPTION),
            // It is the release's, which may get more but nothing else.
            Some(known) => self.merge_map(known, option, path),
        }
    }
}

/// `Network.manager.values[vlan]`, for people.
fn option_path(list: &str, data: &Json) -> String {
    match data {
        Json::String(text) => format!("{list}[{text}]"),
        other => format!("{list}[{other}]"),
    }
}
