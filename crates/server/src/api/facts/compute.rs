//! Computed provisioning facts. Deployment facts are computed from the planning records instead.

use serde_json::json;
use stoker_model::{Json, JsonMap, Node};

/// Computes the facts with which each node is provisioned.
pub(super) fn provisioning(nodes: &[Node]) -> Vec<JsonMap> {
    let documents = nodes.iter().map(|node| {
        map(json!({
            "uid": node.id.to_string(),
            "name": node.hostname,
            "hostname": node.hostname,
            "mac": node.mac,
            "ip": node.ip,
            "status": node.status.as_str(),
            "kernel_params": node.kernel_params,
            "interfaces": node.meta.get("interfaces").cloned().unwrap_or_else(|| json!([])),
            "disks": node.meta.get("disks").cloned().unwrap_or_else(|| json!([])),
        }))
    });
    documents.collect()
}

fn map(value: Json) -> JsonMap {
    match value {
        Json::Object(map) => map,
        _ => JsonMap::new(),
    }
}
