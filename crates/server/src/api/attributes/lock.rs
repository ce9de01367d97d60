//! What may still change in a cluster that is locked because it was deployed.

use stoker_model::{Cluster, Json, JsonMap};

use super::change::PluginChange;
use crate::http::error::{ApiError, ApiResult};

/// Refuses changes of a locked cluster, save those that its sections and plugins declare harmless.
pub(super) fn check(cluster: &Cluster, editable: &JsonMap, plugins: &[PluginChange<'_>]) -> ApiResult<()> {
    if !cluster.is_locked {
        return Ok(());
    }
    let names = cluster.editable.keys().chain(editable.keys());
    let mut changed = names.filter(|name| cluster.editable.get(*name) != editable.get(*name));
    let section = changed.find(|name| !is_always_editable(cluster.editable.get(*name)));
    let plugin = || {
        let frozen = plugins.iter().find(|change| !change.is_harmless());
        frozen.map(|change| &change.version.plugin.body.name)
    };
    match section.or_else(plugin) {
        None => Ok(()),
        Some(name) => Err(ApiError::forbidden(format!(
            "Environment attributes can't be changed after or during deployment: `{name}` is locked; force=1 does it \
             all the same"
        ))),
    }
}

fn is_always_editable(section: Option<&Json>) -> bool {
    section
        .and_then(|section| section.get("metadata"))
        .is_some_and(|metadata| flag(metadata, "always_editable"))
}

pub(super) fn flag(metadata: &Json, name: &str) -> bool {
    metadata.get(name).is_some_and(|value| *value == Json::Bool(true))
}
