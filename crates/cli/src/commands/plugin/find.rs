//! Plugin lookup by ID, name or `NAME==VERSION`.

use stoker_client::RestRequest;
use stoker_model::{Json, compare_versions};

use crate::exit::{Failure, Outcome};
use crate::remote::Remote;

/// Returns a plugin; a name without a version selects the newest version.
pub(super) fn find(remote: &mut Remote<'_>, reference: &str) -> Outcome<Json> {
    if let Ok(id) = reference.parse::<i64>() {
        return remote.get(format!("plugins/{id}"));
    }
    let (name, version) = match reference.split_once("==") {
        Some((name, version)) => (name, Some(version)),
        None => (reference, None),
    };
    let text = |plugin: &Json, key: &str| plugin[key].as_str().unwrap_or_default().to_owned();
    let matches_reference = |plugin: &Json| {
        text(plugin, "name") == name && version.is_none_or(|version| text(plugin, "version") == version)
    };
    let plugins = remote.get_list(&RestRequest::get("plugins"))?.into_iter().filter(matches_reference);
    let newest =
        plugins.max_by(|one, other| compare_versions(&text(one, "version"), &text(other, "version")));
    newest.ok_or_else(|| {
        let mut failure = Failure::failed(format!("plugin `{reference}` not found"));
        failure.diagnostics[0].help = Some("run `stoker plugin list` to see installed plugins".to_owned());
        failure
    })
}

/// Name of a plugin in messages.
pub(super) fn display_name(plugin: &Json) -> String {
    let field = |key: &str| plugin[key].as_str().unwrap_or_default();
    format!("plugin {} `{}` {}", plugin["id"], field("name"), field("version"))
}

/// Supported releases, such as `ubuntu 1.0-10.0`.
pub(super) fn releases(plugin: &Json) -> Vec<String> {
    let release = |release: &Json| {
        let field = |key: &str| release[key].as_str().unwrap_or_default();
        format!("{} {}", field("os"), field("version"))
    };
    plugin["releases"].as_array().into_iter().flatten().map(release).collect()
}
