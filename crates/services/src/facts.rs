//! Facts of nodes that users upload to replace computed facts.

use std::collections::HashSet;

use serde_json::json;
use stoker_model::{AuditChange, Cluster, FactsKind, Json, JsonMap, Node, NodeId, TenantId};
use stoker_store::{List, NodeFilter, Session, WriteTransaction};

use crate::error::{ServiceError, ServiceResult};
use crate::precondition::Precondition;

/// Returns the nodes of a cluster, or those with the requested IDs. Nodes that `tenant_id` may not see are
/// reported as not found.
pub async fn nodes_of(
    session: &mut Session,
    tenant_id: Option<TenantId>,
    cluster: &Cluster,
    node_ids: Option<&[i64]>,
) -> ServiceResult<Vec<Node>> {
    let Some(node_ids) = node_ids else { return members(session, cluster).await };
    let ids: Vec<NodeId> = node_ids.iter().map(|id| NodeId(*id)).collect();
    let filter = NodeFilter { ids: Some(ids.clone()), tenant_id, ..NodeFilter::default() };
    let nodes = session.node_list(&filter, &List::default()).await?.items;
    let existing: HashSet<NodeId> = nodes.iter().map(|node| node.id).collect();
    if ids.iter().any(|id| !existing.contains(id)) {
        return Err(ServiceError::not_found("NodeCollection"));
    }
    let non_members = nodes.iter().filter(|node| node.cluster_id != Some(cluster.id));
    let non_members: Vec<String> = non_members.map(|node| node.id.to_string()).collect();
    require_no_non_members(cluster, &non_members)?;
    Ok(nodes)
}

async fn members(session: &mut Session, cluster: &Cluster) -> ServiceResult<Vec<Node>> {
    let filter = NodeFilter { cluster: Some(Some(cluster.id)), ..NodeFilter::default() };
    Ok(session.node_list(&filter, &List::default()).await?.items)
}

fn require_no_non_members(cluster: &Cluster, non_members: &[String]) -> ServiceResult<()> {
    if non_members.is_empty() {
        return Ok(());
    }
    Err(ServiceError::invalid(format!(
        "Nodes {} do not belong to cluster {}",
        non_members.join(", "),
        cluster.id
    )))
}

/// Stores documents of nodes of the cluster, and the document of `shared`, which belongs to no node.
/// Duplicate UIDs are errors.
pub async fn facts_update(
    mut writing: WriteTransaction,
    mut cluster: Cluster,
    precondition: &Precondition,
    kind: FactsKind,
    shared: &str,
    documents: Vec<(String, JsonMap)>,
) -> ServiceResult<Cluster> {
    precondition.check(cluster.generation)?;
    let members = members(&mut writing, &cluster).await?;
    let mut remaining_uids: HashSet<String> = members.iter().map(|node| node.id.to_string()).collect();
    remaining_uids.insert(shared.to_owned());
    let non_members = documents.iter().filter(|(uid, _)| !remaining_uids.contains(uid));
    let non_members: Vec<String> = non_members.map(|(uid, _)| uid.chars().take(60).collect()).collect();
    require_no_non_members(&cluster, &non_members)?;
    if let Some((uid, _)) = documents.iter().find(|(uid, _)| !remaining_uids.remove(uid)) {
        return Err(ServiceError::invalid(format!("duplicate document with the uid `{uid}`")));
    }
    let documents: Vec<(String, Json)> =
        documents.into_iter().map(|(uid, document)| (uid, Json::Object(document))).collect();
    writing.facts_put(cluster.id, kind, &documents).await?;
    cluster.is_customized = true;
    let cluster = writing.cluster_update(&cluster).await?;
    writing.commit(describe("cluster.facts.update", &cluster, kind)).await?;
    Ok(cluster)
}

/// Deletes the uploaded facts of one kind.
pub async fn facts_delete(
    mut writing: WriteTransaction,
    mut cluster: Cluster,
    precondition: &Precondition,
    kind: FactsKind,
) -> ServiceResult<()> {
    precondition.check(cluster.generation)?;
    writing.facts_delete(cluster.id, kind).await?;
    let other = match kind {
        FactsKind::Deployment => FactsKind::Provisioning,
        FactsKind::Provisioning => FactsKind::Deployment,
    };
    cluster.is_customized = !writing.facts_get(cluster.id, other).await?.is_empty();
    let cluster = writing.cluster_update(&cluster).await?;
    Ok(writing.commit(describe("cluster.facts.delete", &cluster, kind)).await?)
}

fn describe(action: &'static str, cluster: &Cluster, kind: FactsKind) -> AuditChange {
    AuditChange { action, target: format!("cluster {}", cluster.id), detail: json!({"kind": kind.as_str()}) }
}
