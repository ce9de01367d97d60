//! What a node needs to be installed. What a deployment works from is computed elsewhere.

use serde_json::json;
use stoker_model::{Json, JsonMap, Node};

/// What each node needs to be installed from nothing.
pub(super) fn provisioning(nodes: &[Node]) -> Vec<JsonMap> {
    let shown = nodes.iter().map(|node| {
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
    shown.collect()
}

fn map(value: Json) -> JsonMap {
    match value {
        Json::Object(map) => map,
        _ => JsonMap::new(),
    }
}
