//! Plugins by id or by name.

use stoker_client::Request;
use stoker_model::{Json, compare_versions};

use crate::exit::{Failure, Outcome};
use crate::remote::Remote;

/// The plugin that is meant.
pub(super) fn find(remote: &mut Remote<'_>, wanted: &str) -> Outcome<Json> {
    if let Ok(id) = wanted.parse::<i64>() {
        return remote.get(format!("plugins/{id}"));
    }
    let (name, version) = match wanted.split_once("==") {
        Some((name, version)) => (name, Some(version)),
        None => (wanted, None),
    };
    let text = |plugin: &Json, key: &str| plugin[key].as_str().unwrap_or_default().to_owned();
    let is_meant = |plugin: &Json| {
        text(plugin, "name") == name && version.is_none_or(|version| text(plugin, "version") == version)
    };
    let plugins = remote.get_list(&Request::get("plugins"))?.into_iter().filter(is_meant);
    let newest =
        plugins.max_by(|one, other| compare_versions(&text(one, "version"), &text(other, "version")));
    newest.ok_or_else(|| {
        let mut failure = Failure::failed(format!("there is no plugin `{wanted}`"));
        failure.diagnostics[0].help = Some("`stoker plugin list` tells which there are".to_owned());
        failure
    })
}

/// What it is called in messages.
pub(super) fn shown(plugin: &Json) -> String {
    let word = |key: &str| plugin[key].as_str().unwrap_or_default();
    format!("plugin {} `{}` {}", plugin["id"], word("name"), word("version"))
}

/// What it was made for, as in `ubuntu 1.0-10.0`.
pub(super) fn releases(plugin: &Json) -> Vec<String> {
    let release = |release: &Json| {
        let word = |key: &str| release[key].as_str().unwrap_or_default();
        format!("{} {}", word("os"), word("version"))
    };
    plugin["releases"].as_array().into_iter().flatten().map(release).collect()
}
