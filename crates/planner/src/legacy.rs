//! Conditions in the legacy notation: `settings:a.b.value == true`.
//!
//! `settings` is the node's whole document and `cluster` the map under that key. Legacy settings were nested
//! more deeply than documents are, so the condition text is rewritten to the flat paths first.

use std::collections::HashMap;

use stoker_conditions::{Condition, ConditionError, ModelPath, rewrite_for_deployment};
use stoker_model::{Json, JsonMap};
use stoker_yaql::Value;

use crate::json::to_json;

/// Parsed conditions, cached by text.
#[derive(Default)]
pub(crate) struct LegacyConditions {
    by_text: HashMap<String, Result<Condition, ConditionError>>,
}

const SETTINGS: &str = "settings";
const CLUSTER: &str = "cluster";

impl LegacyConditions {
    /// Evaluates a condition for the node with this document.
    pub(crate) fn holds(&mut self, text: &str, document: &Value) -> Result<bool, ConditionError> {
        let entry = self.by_text.entry(text.to_owned());
        let condition = entry.or_insert_with(|| Condition::parse(&rewrite_for_deployment(text))).as_ref();
        let condition = condition.map_err(Clone::clone)?;
        let cluster = document.as_map().and_then(|map| map.get_str(CLUSTER)).cloned().unwrap_or_default();
        let paths = condition.paths();
        let of_model = |model: &str, document: &Value| excerpt(&paths, model, document);
        let (settings, cluster) = (of_model(SETTINGS, document), of_model(CLUSTER, &cluster));
        condition.is_true(&|model: &str| match model {
            SETTINGS => Some(&settings),
            CLUSTER => Some(&cluster),
            _ => None,
        })
    }
}

/// The part of a document that a condition reads: converting a whole document would be expensive.
fn excerpt(paths: &[&ModelPath], model: &str, document: &Value) -> Json {
    let mut read = JsonMap::new();
    for path in paths.iter().filter(|path| path.model == model) {
        copy(document, &path.keys, &mut read);
    }
    Json::Object(read)
}

fn copy(document: &Value, keys: &[String], read: &mut JsonMap) {
    let Some((key, rest)) = keys.split_first() else { return };
    let Some(value) = document.as_map().and_then(|map| map.get_str(key)) else { return };
    if rest.is_empty() || value.as_map().is_none() {
        read.insert(key.clone(), to_json(value).unwrap_or_default());
        return;
    }
    let inner = read.entry(key.clone()).or_insert_with(|| Json::Object(JsonMap::new()));
    if let Json::Object(inner) = inner {
        copy(value, rest, inner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str) -> Result<bool, String> {
        let document = r#"{"murano": {"enabled": true}, "debug": false, "cluster": {"mode": "ha"}, "a": {"b": {"c": 1}}}"#;
        let document = stoker_yaql::json::parse(document).unwrap();
        LegacyConditions::default().holds(text, &document).map_err(|error| error.message)
    }

    #[test]
    fn settings_model_is_the_whole_document() {
        assert_eq!(holds("settings:additional_components.murano.value == true"), Ok(true));
        assert_eq!(holds("settings:common.debug.value"), Ok(false));
        assert_eq!(holds("cluster:mode == 'ha' and settings:a.b.c == 1"), Ok(true));
        assert_eq!(holds("settings:a.missing == null"), Ok(true));
        assert_eq!(holds("settings:a.b == null or settings:a.b.c == 1"), Ok(true));
        assert!(holds("other:a == 1").is_err());
        assert!(holds("settings:debug.x == 1").is_err());
        assert!(holds("settings:a ==").is_err());
    }
}
