//! The settings of a cluster, as they are edited and as they are deployed.

use serde_json::json;
use stoker_model::{Json, JsonMap};

use crate::StateInput;
use crate::json::{merge, merged, object};

/// What the release proposes, the cluster's own values over it, and a section for each enabled plugin.
pub(crate) fn settings(input: &StateInput<'_>) -> JsonMap {
    let mut settings = merged(part(&input.release.body.attributes_metadata), input.cluster.editable.clone());
    for enabled in input.plugins {
        let body = &enabled.plugin.body;
        let mut section = merged(&body.attributes_metadata, enabled.attributes.clone());
        let metadata = json!({
            "class": "plugin",
            "enabled": true,
            "plugin_id": enabled.plugin.id.0,
            "plugin_version": body.version,
        });
        merge(&mut section, object(json!({"metadata": metadata})));
        settings.insert(body.name.clone(), Json::Object(section));
    }
    settings
}

fn part(attributes_metadata: &JsonMap) -> &JsonMap {
    static NONE: std::sync::LazyLock<JsonMap> = std::sync::LazyLock::new(JsonMap::new);
    attributes_metadata.get("editable").and_then(Json::as_object).unwrap_or(&NONE)
}

/// Settings as tasks know them: generated values beneath, levels called `value` taken out, the section `common`
/// opened, and `X: {enabled}` in place of `additional_components.X`. Old conditions are rewritten to the same form.
pub(crate) fn flattened(settings: &JsonMap, generated: &JsonMap) -> JsonMap {
    let mut sections = merged(generated, settings.clone());
    for section in sections.values_mut().filter_map(Json::as_object_mut) {
        for setting in section.values_mut() {
            if let Some(value) = setting.as_object_mut().and_then(|setting| setting.get_mut("value")) {
                *setting = value.take();
            }
        }
    }
    let mut lifted = |name: &str| sections.shift_remove(name).map(object).unwrap_or_default();
    let (common, components) = (lifted("common"), lifted("additional_components"));
    sections.extend(common);
    for (name, is_enabled) in components.into_iter().filter(|(_, value)| value.is_boolean()) {
        let section = sections.entry(name).or_insert_with(|| Json::Object(JsonMap::new()));
        if let Json::Object(section) = section {
            section.insert("enabled".to_owned(), is_enabled);
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_flattened_as_tasks_know_them() {
        let settings = object(json!({
            "common": {"debug": {"value": true, "type": "checkbox"}, "metadata": {"weight": 1}},
            "additional_components": {
                "murano": {"value": true}, "heat": {"value": false}, "odd": {"value": "x"}, "metadata": {}},
            "storage": {"size": {"value": 3}, "plain": "text", "metadata": {"enabled": true}},
            "configs": {"nova": {"value": {"cpu": 4}}},
            "murano": {"workers": {"value": 2}},
            "odd": 5,
        }));
        let generated = object(json!({"murano": {"db_password": "x"}, "storage": {"plain": "lost"}}));
        let expected = json!({
            "murano": {"db_password": "x", "workers": 2, "enabled": true},
            "storage": {"plain": "text", "size": 3, "metadata": {"enabled": true}},
            "configs": {"nova": {"cpu": 4}},
            "odd": 5,
            "debug": true,
            "metadata": {"weight": 1},
            "heat": {"enabled": false},
        });
        assert_eq!(Json::Object(flattened(&settings, &generated)), expected);
        assert_eq!(flattened(&JsonMap::new(), &JsonMap::new()), JsonMap::new());
    }
}
