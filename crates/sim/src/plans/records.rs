//! A site as the records from which the server computes documents.

use std::collections::BTreeMap;

use serde_json::json;
use stoker_model::{
    Cluster, ClusterId, ClusterStatus, Json, JsonMap, Micros, NewRelease, Node, NodeErrorKind, NodeId,
    NodeStatus, PLUGIN_SCRIPTS_ROOT, Release, ReleaseId, ReleaseState, Task, TenantId,
};
use stoker_state::{DesiredState, StateInput, desired_state};

use super::site::{ERROR, Site, SiteGraph, SiteNode};

/// The desired state of a site, and its nodes.
pub(crate) fn state_of(site: &Site) -> (DesiredState, Vec<Node>) {
    let nodes: Vec<Node> = site.nodes.iter().map(|(uid, node)| record(uid, node)).collect();
    let (cluster, release, none) = (cluster(site), release(), BTreeMap::new());
    let state = desired_state(&StateInput {
        cluster: &cluster,
        release: &release,
        plugins: &[],
        scripts_root: PLUGIN_SCRIPTS_ROOT,
        nodes: &nodes,
        primaries: &BTreeMap::new(),
        package_access: &none,
    });
    (state, nodes)
}

/// The tasks of a graph of the site.
pub(crate) fn tasks_of(site: &Site, graph_type: &str) -> Vec<Task> {
    let graph = site.graphs.get(graph_type);
    let tasks = graph.into_iter().flat_map(SiteGraph::fields);
    tasks.map(|(name, fields)| Task { name: name.clone(), fields: object(fields) }).collect()
}

pub(crate) fn object(value: Json) -> JsonMap {
    match value {
        Json::Object(map) => map,
        _ => JsonMap::new(),
    }
}

fn record(uid: &str, node: &SiteNode) -> Node {
    let texts = |roles: &std::collections::BTreeSet<&'static str>| {
        roles.iter().map(|role| (*role).to_owned()).collect()
    };
    let labels = node.labels.iter().map(|(name, value)| ((*name).to_owned(), json!(value.to_string())));
    let facts = node.gateway.map(|gateway| json!({"network_scheme": {"routes": [gateway]}}));
    Node {
        id: NodeId(uid.parse().unwrap_or_default()),
        generation: 1,
        cluster_id: Some(ClusterId(1)),
        name: format!("Node {uid}"),
        mac: format!("00:00:00:00:00:0{uid}"),
        ip: Some(format!("10.0.0.{uid}")),
        hostname: format!("node-{uid}"),
        status: NodeStatus::parse(node.status).unwrap_or(NodeStatus::Error),
        online: node.online,
        roles: texts(&node.roles),
        pending_roles: texts(&node.pending_roles),
        pending_addition: node.pending_addition,
        pending_deletion: node.pending_deletion,
        error_type: (node.status == ERROR).then_some(NodeErrorKind::Deploy),
        error_msg: None,
        progress: 0,
        group_id: None,
        manufacturer: None,
        platform_name: None,
        os_platform: None,
        kernel_params: None,
        labels: labels.collect(),
        meta: JsonMap::new(),
        attributes: JsonMap::new(),
        facts: facts.map(object).unwrap_or_default(),
        agent_checksum: None,
        last_seen_at: None,
        created_at: Micros(0),
        instance_options: JsonMap::new(),
    }
}

fn cluster(site: &Site) -> Cluster {
    let mut editable = json!({});
    for ((section, name), value) in &site.settings {
        editable[section][name] = json!({"value": value});
    }
    Cluster {
        id: ClusterId(1),
        generation: 1,
        tenant_id: TenantId(1),
        release_id: ReleaseId(1),
        name: "site".to_owned(),
        status: ClusterStatus::parse(site.status).unwrap_or(ClusterStatus::Error),
        mode: "ha_compact".to_owned(),
        net_provider: "neutron".to_owned(),
        net_segment_type: None,
        components: Vec::new(),
        ui_settings: JsonMap::new(),
        roles_metadata: JsonMap::new(),
        tags_metadata: JsonMap::new(),
        volumes_roles_mapping: JsonMap::new(),
        editable: object(editable),
        generated: JsonMap::new(),
        extensions: Vec::new(),
        is_customized: false,
        is_locked: false,
        merge_order: None,
        merge_mode: None,
        created_at: Micros(0),
    }
}

fn release() -> Release {
    let body = NewRelease {
        name: "Shop".to_owned(),
        version: "1.0".to_owned(),
        description: None,
        operating_system: "Debian".to_owned(),
        state: ReleaseState::Available,
        modes_metadata: JsonMap::new(),
        roles_metadata: JsonMap::new(),
        tags_metadata: JsonMap::new(),
        volumes_roles_mapping: JsonMap::new(),
        attributes_metadata: JsonMap::new(),
        networks_metadata: JsonMap::new(),
        volumes_metadata: JsonMap::new(),
        wizard_metadata: JsonMap::new(),
        components_metadata: Vec::new(),
        required_component_types: Vec::new(),
        extensions: Vec::new(),
        extra: JsonMap::new(),
    };
    Release { id: ReleaseId(1), generation: 1, body, created_at: Micros(0) }
}
