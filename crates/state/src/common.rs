//! The common document: data that all nodes share.

use serde_json::json;
use stoker_model::{Json, JsonMap};

use crate::StateInput;
use crate::json::object;
use crate::settings::flatten;

/// Flattened settings at the top level, overridden by keys that no setting can replace.
pub(crate) fn document(input: &StateInput<'_>, settings: JsonMap, nodes: Vec<Json>) -> JsonMap {
    let (cluster, release) = (input.cluster, &input.release.body);
    let mut document = flatten(&settings, &cluster.generated);
    // A section called `metadata` describes the settings page, not the cluster.
    document.shift_remove("metadata");
    document.entry("configs").or_insert_with(|| Json::Object(JsonMap::new()));
    let plugins = input.plugins.iter().map(|enabled| {
        let body = &enabled.plugin.body;
        json!({
            "id": enabled.plugin.id.0,
            "name": body.name,
            "version": body.version,
            "title": body.title,
            "scripts": enabled.plugin.scripts_folder(input.scripts_root),
        })
    });
    let plugins: Vec<Json> = plugins.collect();
    let scripts = input.plugins.iter().filter_map(|enabled| {
        Some((enabled.plugin.body.name.clone(), Json::from(enabled.scripts_digest.clone()?)))
    });
    let scripts: JsonMap = scripts.collect();
    let repositories = input.plugins.iter().filter_map(|enabled| {
        Some((enabled.plugin.body.name.clone(), Json::from(enabled.repository_digest.clone()?)))
    });
    let repositories: JsonMap = repositories.collect();
    document.extend(object(json!({
        "uid": "common",
        "cluster": {
            "id": cluster.id.0,
            "name": cluster.name,
            "status": cluster.status.as_str(),
            "mode": cluster.mode,
            "net_provider": cluster.net_provider,
            "net_segment_type": cluster.net_segment_type(),
            "components": cluster.components,
        },
        "release": {
            "id": input.release.id.0,
            "name": release.name,
            "version": release.version,
            "operating_system": release.operating_system,
            "os": release.operating_system,
        },
        "plugins": plugins,
        "plugin_scripts": scripts,
        "plugin_repositories": repositories,
    })));
    document.insert("settings".to_owned(), Json::Object(settings));
    document.insert("nodes".to_owned(), Json::Array(nodes));
    document
}
