//! The settings of a cluster, in editable and in deployed form.

use serde_json::json;
use stoker_model::{Json, JsonMap};

use crate::StateInput;
use crate::json::{merge, merge_into_copy, object};

/// The defaults of the release, overridden by the cluster's values, and a section per enabled plugin.
pub(crate) fn settings(input: &StateInput<'_>) -> JsonMap {
    let mut settings = merge_into_copy(
        editable_part(&input.release.body.attributes_metadata),
        input.cluster.editable.clone(),
    );
    for enabled in input.plugins {
        let body = &enabled.plugin.body;
        let mut section = merge_into_copy(&body.attributes_metadata, enabled.attributes.clone());
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

fn editable_part(attributes_metadata: &JsonMap) -> &JsonMap {
    static NONE: std::sync::LazyLock<JsonMap> = std::sync::LazyLock::new(JsonMap::new);
    attributes_metadata.get("editable").and_then(Json::as_object).unwrap_or(&NONE)
}

/// Settings in the form that tasks read: overlaid on generated values, with `value` levels removed, the
/// section `common` lifted to the top level, and `X: {enabled}` instead of `additional_components.X`. Legacy
/// conditions are rewritten to the same form.
pub(crate) fn flatten(settings: &JsonMap, generated: &JsonMap) -> JsonMap {
    let mut sections = merge_into_copy(generated, settings.clone());
    for section in sections.values_mut().filter_map(Json::as_object_mut) {
        for setting in section.values_mut() {
            if let Some(value) = setting.as_object_mut().and_then(|setting| setting.get_mut("value")) {
                *setting = value.take();
            }
        }
    }
    let mut remove_section = |name: &str| sections.shift_remove(name).map(object).unwrap_or_default();
    let (common, components) = (remove_section("common"), remove_section("additional_components"));
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
    fn settings_are_flattened() {
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
        assert_eq!(Json::Object(flatten(&settings, &generated)), expected);
        assert_eq!(flatten(&JsonMap::new(), &JsonMap::new()), JsonMap::new());
    }
}
