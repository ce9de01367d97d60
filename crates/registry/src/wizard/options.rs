//! Options of a control, known by their `data`.

use stoker_model::{Json, JsonMap};

use super::conflict::kinds;
use super::mix::Mixer;

impl Mixer<'_> {
    /// Lays the options of a plugin behind those that are there; `path` leads to the list.
    pub(super) fn merge_options(&mut self, base: &mut Vec<Json>, options: &[Json], path: &str) {
        let mut seen: Vec<&Json> = Vec::new();
        for option in options {
            let map = option.as_object();
            let given = map.and_then(|map| Some((map, map.get("data").filter(|data| !data.is_null())?)));
            let Some((map, data)) = given else {
                self.conflict(path.to_owned(), kinds::MISSING_DATA);
                continue;
            };
            if seen.contains(&data) {
                self.conflict(option_path(path, data), kinds::DUPLICATE_OPTION);
                continue;
            }
            seen.push(data);
            self.merge_option(base, map, data, path);
        }
    }

    fn merge_option(&mut self, base: &mut Vec<Json>, option: &JsonMap, data: &Json, list: &str) {
        let path = &option_path(list, data);
        // As JSON, `"1"` and `1` are two owners' options.
        let key = format!("{list}[{data}]");
        let known = base.iter_mut().find(|known| known.get("data") == Some(data));
        match known.and_then(Json::as_object_mut) {
            None => {
                let mut added = JsonMap::new();
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
