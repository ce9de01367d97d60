//! Conditions in the older notation: `settings:a.b.value == true`.
//!
//! `settings` is the whole document of the node and `cluster` what is under that key: settings were flattened when
//! documents took their place, and texts are rewritten accordingly.

use std::collections::HashMap;

use stoker_conditions::{Condition, ConditionError, ModelPath, rewrite_for_deployment};
use stoker_model::{Json, JsonMap};
use stoker_yaql::Value;

use crate::json::to_json;

/// Conditions that were met before, parsed once each.
#[derive(Default)]
pub(crate) struct Legacy {
    known: HashMap<String, Result<Condition, ConditionError>>,
}

const SETTINGS: &str = "settings";
const CLUSTER: &str = "cluster";

impl Legacy {
    /// Whether a condition holds for the node with this document.
    pub(crate) fn holds(&mut self, text: &str, document: &Value) -> Result<bool, ConditionError> {
        let known = self.known.entry(text.to_owned());
        let condition = known.or_insert_with(|| Condition::parse(&rewrite_for_deployment(text))).as_ref();
        let condition = condition.map_err(Clone::clone)?;
        let cluster = document.as_map().and_then(|map| map.get_str(CLUSTER)).cloned().unwrap_or_default();
        let paths = condition.paths();
        let of_model = |model: &str, document: &Value| excerpt(&paths, model, document);
        let (settings, cluster) = (of_model(SETTINGS, document), of_model(CLUSTER, &cluster));
        condition.holds(&|model: &str| match model {
            SETTINGS => Some(&settings),
            CLUSTER => Some(&cluster),
            _ => None,
        })
    }
}

/// What a condition can see of a document, and no more: documents are large.
fn excerpt(paths: &[&ModelPath], model: &str, document: &Value) -> Json {
    let mut seen = JsonMap::new();
    for path in paths.iter().filter(|path| path.model == model) {
        copy(document, &path.keys, &mut seen);
    }
    Json::Object(seen)
}

fn copy(document: &Value, keys: &[String], seen: &mut JsonMap) {
    let Some((key, rest)) = keys.split_first() else { return };
    let Some(value) = document.as_map().and_then(|map| map.get_str(key)) else { return };
    if rest.is_empty() || value.as_map().is_none() {
        seen.insert(key.clone(), to_json(value).unwrap_or_default());
        return;
    }
    let inner = seen.entry(key.clone()).or_insert_with(|| Json::Object(JsonMap::new()));
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
        Legacy::default().holds(text, &document).map_err(|error| error.message)
    }

    #[test]
    fn settings_are_the_document() {
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
