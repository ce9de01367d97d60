//! Membership of nodes in a cluster.

use std::collections::{HashMap, HashSet};

use stoker_diagnostics::Diagnostic;
use stoker_model::{Cluster, Node, NodeId};
use stoker_store::{List, NodeFilter, StoreError, WriteTransaction};

use crate::error::{ServiceError, ServiceResult};
use crate::modules::automatic::enqueue_for;

/// Loads the nodes with these IDs, in this order. Duplicate and missing IDs are errors.
pub(super) async fn load(writing: &mut WriteTransaction, ids: &[NodeId]) -> ServiceResult<Vec<Node>> {
    let mut unique = HashSet::new();
    if let Some(duplicate) = ids.iter().find(|id| !unique.insert(**id)) {
        return Err(ServiceError::invalid(format!("duplicate node {duplicate}")));
    }
    let filter = NodeFilter { ids: Some(ids.to_vec()), ..NodeFilter::default() };
    let mut nodes = writing.node_list(&filter, &List::default()).await?.items;
    let existing: HashSet<NodeId> = nodes.iter().map(|node| node.id).collect();
    let missing: Vec<String> =
        ids.iter().filter(|id| !existing.contains(id)).map(ToString::to_string).collect();
    if !missing.is_empty() {
        return Err(ServiceError::invalid(format!("Nodes with ids {} were not found.", missing.join(", "))));
    }
    let positions: HashMap<NodeId, usize> = ids.iter().enumerate().map(|(index, id)| (*id, index)).collect();
    nodes.sort_by_key(|node| positions.get(&node.id).copied());
    Ok(nodes)
}

/// Reports nodes that belong to another cluster: they must be unassigned there first.
pub(super) fn nodes_of_other_clusters(cluster: &Cluster, nodes: &[Node]) -> Vec<Diagnostic> {
    let problems = nodes.iter().enumerate().filter_map(|(index, node)| {
        let other = node.cluster_id.filter(|id| *id != cluster.id)?;
        let message =
            format!("node {} belongs to cluster {other}; remove it from that cluster first", node.id);
        Some(Diagnostic::plain(message).path(format!("[{index}].id")))
    });
    problems.collect()
}

/// Replaces the nodes of a cluster: new nodes join without roles, omitted nodes are removed. Returns whether
/// any node joined, in which case the caller must check the quota.
pub(super) async fn set_members(
    writing: &mut WriteTransaction,
    cluster: &Cluster,
    ids: &[NodeId],
) -> ServiceResult<bool> {
    let nodes = load(writing, ids).await?;
    let reasons = nodes_of_other_clusters(cluster, &nodes);
    if !reasons.is_empty() {
        return Err(ServiceError::refused(reasons));
    }
    let filter = NodeFilter { cluster: Some(Some(cluster.id)), ..NodeFilter::default() };
    let members = writing.node_list(&filter, &List::default()).await?.items;
    let requested: HashSet<&NodeId> = ids.iter().collect();
    for mut node in members.into_iter().filter(|node| !requested.contains(&node.id)) {
        node.request_removal();
        writing.node_update(&node).await?;
    }
    let mut joined = Vec::new();
    for mut node in nodes.into_iter().filter(|node| node.cluster_id.is_none()) {
        node.join_cluster(cluster.id);
        joined.push(writing.node_update(&node).await.map_err(|error| not_assigned(error, &node, cluster))?);
    }
    enqueue_for(writing, cluster, &joined).await?;
    Ok(!joined.is_empty())
}

pub(super) fn not_assigned(error: StoreError, node: &Node, cluster: &Cluster) -> ServiceError {
    match error {
        StoreError::AlreadyExists { what: "hostname" } => ServiceError::conflict(format!(
            "hostname `{}` is already in use in cluster {}",
            node.hostname, cluster.id
        )),
        StoreError::Stale { .. } => {
            ServiceError::conflict(format!("node {} was changed by another request; try again", node.id))
        }
        error => error.into(),
    }
}
