//! What a cluster and its nodes look like to the tasks that run on them. A planner that computes more puts it here.

use serde_json::json;
use stoker_model::{Cluster, Json, JsonMap, Node, Release};

/// The part that is the same for all nodes, and what each node adds to it.
pub(super) struct DeploymentFacts {
    pub(super) common: JsonMap,
    pub(super) nodes: Vec<JsonMap>,
}

pub(super) fn deployment(cluster: &Cluster, release: &Release, nodes: &[Node]) -> DeploymentFacts {
    let body = &release.body;
    let common = map(json!({
        "uid": "common",
        "cluster": {
            "id": cluster.id.0,
            "name": cluster.name,
            "status": cluster.status.as_str(),
            "mode": cluster.mode,
            "net_provider": cluster.net_provider,
            "components": cluster.components,
        },
        "release": {"id": release.id.0, "name": body.name, "version": body.version, "os": body.operating_system},
    }));
    let nodes = nodes.iter().map(|node| {
        map(json!({
            "uid": node.id.to_string(),
            "name": node.hostname,
            "fqdn": node.hostname,
            "ip": node.ip,
            "status": node.status.as_str(),
            "online": node.online,
            "roles": roles(node),
            "labels": node.labels,
            "attributes": node.attributes,
        }))
    });
    DeploymentFacts { common, nodes: nodes.collect() }
}

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

/// The roles a node has, and those the next run gives it.
fn roles(node: &Node) -> Vec<&str> {
    let mut roles: Vec<&str> = node.roles.iter().chain(&node.pending_roles).map(String::as_str).collect();
    roles.sort_unstable();
    roles.dedup();
    roles
}

fn map(value: Json) -> JsonMap {
    match value {
        Json::Object(map) => map,
        _ => JsonMap::new(),
    }
}
