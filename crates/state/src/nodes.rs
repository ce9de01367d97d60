//! Per-node data: its own document, its entries in the list of all nodes, and its record for node filters.

use serde_json::json;
use stoker_model::{Json, JsonMap, Node};

use crate::NodeState;
use crate::json::object;

/// The one agent fact that is copied to the top level of a document, because expressions read it there.
const NETWORK_SCHEME: &str = "network_scheme";

/// The node's own document.
pub(crate) fn document(node: &Node, tags: &[String], package_access: Option<&String>) -> JsonMap {
    let mut document = object(json!({
        "uid": node.id.to_string(),
        "name": node.hostname,
        "hostname": node.hostname,
        "user_node_name": node.name,
        "fqdn": node.hostname,
        "ip": node.ip,
        "status": node.status.as_str(),
        "online": node.online,
        "roles": tags,
        "pending_roles": node.pending_roles,
        "pending_addition": node.pending_addition,
        "pending_deletion": node.pending_deletion,
        "labels": node.labels,
        "attributes": node.attributes,
        "facts": node.facts,
    }));
    if let Some(Json::Object(facts)) = document.get_mut("facts") {
        // Another one after every reboot.
        facts.shift_remove("boot_id");
    }
    if let Some(scheme) = node.facts.get(NETWORK_SCHEME) {
        document.insert(NETWORK_SCHEME.to_owned(), scheme.clone());
    }
    if let Some(access) = package_access {
        document.insert("package_access".to_owned(), Json::from(access.as_str()));
    }
    if node.pending_deletion {
        document.insert("deleted".to_owned(), Json::Bool(true));
    }
    document
}

/// One record per node and role, so that `$.nodes.where($.role = compute)` finds a node by any of its roles;
/// a node without roles has one record. Nodes pending deletion are not listed. Records contain nothing volatile, and
/// all have the same keys, so that `$.nodes.label` does not fail on some clusters.
pub(crate) fn records(nodes: &[&Node], states: &[NodeState]) -> Vec<Json> {
    let remaining = nodes.iter().zip(states).filter(|(node, _)| !node.pending_deletion);
    remaining.flat_map(|(node, state)| records_of(node, state)).collect()
}

fn records_of(node: &Node, state: &NodeState) -> Vec<Json> {
    let roles = roles(node);
    let mut record = object(json!({
        "id": node.id.0,
        "uid": state.uid,
        "name": node.hostname,
        "hostname": node.hostname,
        "user_node_name": node.name,
        "fqdn": node.hostname,
        "ip": node.ip,
        "status": node.status.as_str(),
        "roles": roles,
        "pending_roles": node.pending_roles,
        "pending_addition": node.pending_addition,
        "pending_deletion": node.pending_deletion,
        "tags": state.tags,
        "labels": node.labels,
        "label": only(&node.labels),
        "attributes": node.attributes,
        "attribute": only(&node.attributes),
    }));
    let scheme = node.facts.get(NETWORK_SCHEME).cloned().unwrap_or_default();
    record.insert(NETWORK_SCHEME.to_owned(), scheme);
    let with_role = |role: Json| {
        let mut record = record.clone();
        record.insert("role".to_owned(), role);
        Json::Object(record)
    };
    if roles.is_empty() {
        return vec![with_role(Json::Null)];
    }
    roles.into_iter().map(|role| with_role(Json::from(role))).collect()
}

/// Returns the value of a label set with exactly one entry; a label without a value has its name as the value.
fn only(map: &JsonMap) -> Option<Json> {
    let mut entries = map.iter();
    let (key, value) = entries.next()?;
    if entries.next().is_some() {
        return None;
    }
    Some(if value.is_null() { Json::from(key.as_str()) } else { value.clone() })
}

/// The record of a node for node filters.
pub(crate) fn filter_record(node: &Node) -> JsonMap {
    object(json!({
        "id": node.id.0,
        "uid": node.id.to_string(),
        "name": node.name,
        "hostname": node.hostname,
        "status": node.status.as_str(),
        "online": node.online,
        "pending_addition": node.pending_addition,
        "pending_deletion": node.pending_deletion,
        "error_type": node.error_type.map(stoker_model::NodeErrorKind::as_str),
        "roles": node.roles,
        "pending_roles": node.pending_roles,
        "labels": node.labels,
        "attributes": node.attributes,
        "meta": node.meta,
    }))
}

/// Current and pending roles of a node, sorted.
fn roles(node: &Node) -> Vec<&str> {
    let mut roles: Vec<&str> = node.roles.iter().chain(&node.pending_roles).map(String::as_str).collect();
    roles.sort_unstable();
    roles.dedup();
    roles
}
