//! The nodes of a cluster as a whole.

use std::collections::{HashMap, HashSet};

use stoker_model::{Cluster, Node, NodeId};
use stoker_store::{List, NodeFilter, Writing};
use stoker_services::ErrorDetail;
use stoker_services::modules::automatic::enqueue_for;

use super::not_assigned;
use crate::http::error::{ApiError, ApiResult};

/// The nodes with these ids, in that order; all of them, each named once.
pub(super) async fn load(writing: &mut Writing, ids: &[NodeId]) -> ApiResult<Vec<Node>> {
    let mut seen = HashSet::new();
    if let Some(twice) = ids.iter().find(|id| !seen.insert(**id)) {
        return Err(ApiError::bad_request(format!("node {twice} is named twice")));
    }
    let filter = NodeFilter { ids: Some(ids.to_vec()), ..NodeFilter::default() };
    let mut nodes = writing.node_list(&filter, &List::default()).await?.items;
    let found: HashSet<NodeId> = nodes.iter().map(|node| node.id).collect();
    let missing: Vec<String> = ids.iter().filter(|id| !found.contains(id)).map(ToString::to_string).collect();
    if !missing.is_empty() {
        return Err(ApiError::bad_request(format!("Nodes with ids {} were not found.", missing.join(", "))));
    }
    let place: HashMap<NodeId, usize> = ids.iter().enumerate().map(|(index, id)| (*id, index)).collect();
    nodes.sort_by_key(|node| place.get(&node.id).copied());
    Ok(nodes)
}

/// A node that is in another cluster has to leave that one first.
pub(super) fn foreign(cluster: &Cluster, nodes: &[Node]) -> Vec<ErrorDetail> {
    let elsewhere = nodes.iter().enumerate().filter_map(|(index, node)| {
        let other = node.cluster_id.filter(|id| *id != cluster.id)?;
        let message = format!("node {} belongs to environment {other}; unassign it there first", node.id);
        Some(ErrorDetail::new(format!("[{index}].id"), message))
    });
    elsewhere.collect()
}

/// Makes these the nodes of a cluster: new ones join without roles, those not named are dismissed. Whether any is new: then
/// the quota has to be looked at.
pub(in crate::api) async fn set_members(
    writing: &mut Writing,
    cluster: &Cluster,
    ids: &[NodeId],
) -> ApiResult<bool> {
    let nodes = load(writing, ids).await?;
    let reasons = foreign(cluster, &nodes);
    if !reasons.is_empty() {
        return Err(ApiError::refused(reasons));
    }
    let filter = NodeFilter { cluster: Some(Some(cluster.id)), ..NodeFilter::default() };
    let members = writing.node_list(&filter, &List::default()).await?.items;
    let named: HashSet<&NodeId> = ids.iter().collect();
    for mut node in members.into_iter().filter(|node| !named.contains(&node.id)) {
        node.dismiss();
        writing.node_update(&node).await?;
    }
    let mut joined = Vec::new();
    for mut node in nodes.into_iter().filter(|node| node.cluster_id.is_none()) {
        node.join(cluster.id);
        joined.push(writing.node_update(&node).await.map_err(|error| not_assigned(error, &node, cluster))?);
    }
    enqueue_for(writing, cluster, &joined).await?;
    Ok(!joined.is_empty())
}
