//! Validated parameters; lookups cannot fail.

use std::time::Duration;

use stoker_model::{Json, JsonMap};

use crate::parameter::{count, permissions, seconds};

/// Parameters validated against a table and with defaults filled in. Lookups of unknown names return empty
/// values.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    map: JsonMap,
}

impl Values {
    pub(crate) fn new(map: JsonMap) -> Self {
        Self { map }
    }

    pub fn has(&self, name: &str) -> bool {
        self.map.contains_key(name)
    }

    pub fn text(&self, name: &str) -> String {
        self.map.get(name).and_then(Json::as_str).unwrap_or_default().to_owned()
    }

    pub fn opt_text(&self, name: &str) -> Option<String> {
        self.map.get(name).and_then(Json::as_str).map(str::to_owned)
    }

    pub fn texts(&self, name: &str) -> Vec<String> {
        let owned = |value: &Json| value.as_str().map(str::to_owned);
        match self.map.get(name) {
            Some(Json::Array(items)) => items.iter().filter_map(owned).collect(),
            Some(value) => owned(value).into_iter().collect(),
            None => Vec::new(),
        }
    }

    pub fn seconds(&self, name: &str) -> f64 {
        self.map.get(name).and_then(seconds).unwrap_or_default()
    }

    pub fn duration(&self, name: &str) -> Duration {
        Duration::from_secs_f64(self.seconds(name))
    }

    pub fn count(&self, name: &str) -> u64 {
        self.map.get(name).and_then(count).unwrap_or_default()
    }

    pub fn flag(&self, name: &str) -> bool {
        self.map.get(name).and_then(Json::as_bool).unwrap_or_default()
    }

    pub fn permissions(&self, name: &str) -> u32 {
        self.map.get(name).and_then(Json::as_str).and_then(permissions).unwrap_or_default()
    }

    pub fn maps(&self, name: &str) -> Vec<Values> {
        let items = self.map.get(name).and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
        items.iter().filter_map(Json::as_object).cloned().map(Values::new).collect()
    }

    pub fn json(&self, name: &str) -> Option<&Json> {
        self.map.get(name)
    }

    pub fn as_map(&self) -> &JsonMap {
        &self.map
    }
}
