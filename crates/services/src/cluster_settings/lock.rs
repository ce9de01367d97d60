//! Protection of the settings of locked and deployed clusters.

use stoker_model::codes;
use stoker_model::{Cluster, ClusterStatus, Json, JsonMap};

use super::change::PluginChange;
use crate::error::{ServiceError, ServiceResult};

/// Rejects changes to a locked cluster, except in sections and plugins that are declared as always editable
/// or hot-pluggable.
pub(super) fn check(
    cluster: &Cluster,
    editable: &JsonMap,
    plugins: &[PluginChange<'_>],
) -> ServiceResult<()> {
    check_toggles(cluster, plugins)?;
    if !cluster.is_locked {
        return Ok(());
    }
    let names = cluster.editable.keys().chain(editable.keys());
    let mut changed = names.filter(|name| cluster.editable.get(*name) != editable.get(*name));
    let section = changed.find(|name| !is_always_editable(cluster.editable.get(*name)));
    let plugin = || {
        let rejected = plugins.iter().find(|change| !change.is_allowed_when_locked());
        rejected.map(|change| &change.version.plugin.body.name)
    };
    match section.or_else(plugin) {
        None => Ok(()),
        Some(name) => {
            let message =
                format!("settings cannot be changed during or after deployment: `{name}` is locked");
            Err(ServiceError::forbidden_unless_forced(codes::CLUSTER_LOCKED, message))
        }
    }
}

/// Rejects enabling or disabling a plugin that is not hot-pluggable after the first deployment.
fn check_toggles(cluster: &Cluster, plugins: &[PluginChange<'_>]) -> ServiceResult<()> {
    if matches!(cluster.status, ClusterStatus::New | ClusterStatus::Stopped) {
        return Ok(());
    }
    let is_rejected =
        |change: &&PluginChange<'_>| change.toggles() && !change.version.plugin.body.is_hotpluggable;
    let Some(change) = plugins.iter().find(is_rejected) else { return Ok(()) };
    let verb = if change.new.enabled { "enabled" } else { "disabled" };
    let message = format!(
        "plugin `{}` is not hot-pluggable: it cannot be {verb} in a deployed cluster",
        change.version.plugin.body.name
    );
    Err(ServiceError::forbidden_unless_forced(codes::NOT_HOT_PLUGGABLE, message))
}

fn is_always_editable(section: Option<&Json>) -> bool {
    section
        .and_then(|section| section.get("metadata"))
        .is_some_and(|metadata| flag(metadata, "always_editable"))
}

pub(super) fn flag(metadata: &Json, name: &str) -> bool {
    metadata.get(name).is_some_and(|value| *value == Json::Bool(true))
}
