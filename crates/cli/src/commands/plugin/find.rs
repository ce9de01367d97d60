//! Plugin lookup by ID, name or `NAME==VERSION`.

use stoker_api_types::plugins::PluginView;
use stoker_client::RestRequest;
use stoker_model::{Json, compare_versions};

use crate::exit::{Failure, Outcome};
use crate::remote::{Remote, typed};

/// Returns a plugin; a name without a version selects the newest version.
pub(super) fn find(remote: &mut Remote<'_>, reference: &str) -> Outcome<Json> {
    if let Ok(id) = reference.parse::<i64>() {
        return remote.get(format!("plugins/{id}"));
    }
    let (name, version) = match reference.split_once("==") {
        Some((name, version)) => (name, Some(version)),
        None => (reference, None),
    };
    let mut newest: Option<(String, Json)> = None;
    for response in remote.get_list(&RestRequest::get("plugins"))? {
        let plugin: PluginView = typed(&response)?;
        let is_newer = |other: &(String, Json)| compare_versions(&plugin.version, &other.0).is_ge();
        if plugin.name == name
            && version.is_none_or(|version| plugin.version == version)
            && newest.as_ref().is_none_or(is_newer)
        {
            newest = Some((plugin.version, response));
        }
    }
    newest.map(|(_, plugin)| plugin).ok_or_else(|| {
        let mut failure = Failure::failed(format!("plugin `{reference}` not found"));
        failure.diagnostics[0].help = Some("run `stoker plugin list` to see installed plugins".to_owned());
        failure
    })
}

/// Returns the name of a plugin in messages.
pub(super) fn display_name(plugin: &PluginView) -> String {
    format!("plugin {} `{}` {}", plugin.id, plugin.name, plugin.version)
}

/// Returns the supported releases, such as `ubuntu 1.0-10.0`.
pub(super) fn releases(plugin: &PluginView) -> Vec<String> {
    let release = |release: &Json| {
        let field = |key: &str| release.get(key).and_then(Json::as_str).unwrap_or_default();
        format!("{} {}", field("os"), field("version"))
    };
    plugin.releases.iter().map(release).collect()
}
