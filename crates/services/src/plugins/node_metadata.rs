//! Metadata that enabled plugins add to the nodes of a cluster: settings of nodes, interfaces and bonds, network roles and
//! volumes. A node stores only its deviations from it.

use stoker_model::{Cluster, ClusterId, Json, JsonMap, NewPlugin, Node, Plugin};
use stoker_registry::contributions::{ReleaseMetadata, merge_contributions};
use stoker_state::json::{merge, merge_into_copy};
use stoker_store::{List, NodeFilter, Session, WriteTransaction};

use crate::error::ServiceResult;

/// Returns the node attributes that plugins declare: the sections of `node_config`, `nic_attributes` and `bond_attributes` by
/// plugin name, `network_roles`, `volumes` and `volumes_roles_mapping`.
pub fn declared_attributes(plugins: &[&NewPlugin]) -> JsonMap {
    let nothing = JsonMap::new();
    let release = ReleaseMetadata { roles: &nothing, volumes: &nothing, network_roles: &[] };
    // Plugins that collide cannot be enabled together.
    let merged = merge_contributions(release, plugins).unwrap_or_default();
    let mut attributes = merged.node_attributes;
    for (key, value) in [
        ("nic_attributes", Json::Object(merged.nic_attributes)),
        ("bond_attributes", Json::Object(merged.bond_attributes)),
        ("network_roles", Json::Array(merged.network_roles)),
        ("volumes", Json::Array(merged.volumes)),
        ("volumes_roles_mapping", Json::Object(merged.volumes_roles_mapping)),
    ] {
        let is_empty = value.as_object().is_some_and(JsonMap::is_empty) || value == Json::Array(Vec::new());
        if !is_empty {
            attributes.insert(key.to_owned(), value);
        }
    }
    attributes
}

/// Returns the attributes that the enabled plugins of a cluster declare.
pub async fn declared_in_cluster(session: &mut Session, id: ClusterId) -> ServiceResult<JsonMap> {
    let mut plugins: Vec<Plugin> = Vec::new();
    for link in session.cluster_plugins(id).await?.into_iter().filter(|link| link.enabled) {
        plugins.extend(session.plugin_get(link.plugin_id).await?);
    }
    Ok(declared_attributes(&plugins.iter().map(|plugin| &plugin.body).collect::<Vec<_>>()))
}

/// Returns the attributes of a node: those that plugins declare, overridden by its own.
pub fn effective_attributes(declared: &JsonMap, node: &Node) -> JsonMap {
    merge_into_copy(declared, node.attributes.clone())
}

/// Merges a change into the attributes of a node. Values that equal the declared ones are not stored, so that they follow the
/// plugin.
pub fn change_attributes(declared: &JsonMap, node: &mut Node, changes: JsonMap) {
    merge(&mut node.attributes, changes);
    remove_equal(&mut node.attributes, declared);
}

fn remove_equal(attributes: &mut JsonMap, declared: &JsonMap) {
    for (key, default) in declared {
        let is_equal = match (attributes.get_mut(key), default) {
            (Some(Json::Object(own)), Json::Object(default)) => {
                remove_equal(own, default);
                own.is_empty()
            }
            (Some(own), default) => own == default,
            (None, _) => false,
        };
        if is_equal {
            attributes.shift_remove(key);
        }
    }
}

/// Removes the deviations of all nodes from what disabled plugins declare.
pub(crate) async fn remove_attributes(
    writing: &mut WriteTransaction,
    cluster: &Cluster,
    disabled: &[&NewPlugin],
) -> ServiceResult<()> {
    let declared = declared_attributes(disabled);
    if declared.is_empty() {
        return Ok(());
    }
    let filter = NodeFilter { cluster: Some(Some(cluster.id)), ..NodeFilter::default() };
    for mut node in writing.node_list(&filter, &List::default()).await?.items {
        let before = node.attributes.clone();
        for (key, value) in &declared {
            match (key.as_str(), node.attributes.get_mut(key), value) {
                // These have an entry for each plugin.
                ("nic_attributes" | "bond_attributes", Some(Json::Object(own)), Json::Object(declared)) => {
                    own.retain(|plugin, _| !declared.contains_key(plugin));
                    if own.is_empty() {
                        node.attributes.shift_remove(key);
                    }
                }
                _ => _ = node.attributes.shift_remove(key),
            }
        }
        if node.attributes != before {
            writing.node_update(&node).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_values_are_not_stored() {
        let mut attributes = json!({"a": {"x": {"value": 1, "label": "X"}, "y": 2}, "b": [1], "own": true});
        let declared = json!({"a": {"x": {"value": 0, "label": "X"}, "y": 2}, "b": [1], "c": 1});
        remove_equal(attributes.as_object_mut().unwrap(), declared.as_object().unwrap());
        assert_eq!(attributes, json!({"a": {"x": {"value": 1}}, "own": true}));
    }
}
