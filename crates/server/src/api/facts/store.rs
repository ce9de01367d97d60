//! Node selection and storage of uploaded facts, shared by deployment and provisioning.

use std::collections::HashSet;

use serde_json::json;
use stoker_manifest::reader::{json_map, report_wrong_type};
use stoker_model::{AuditChange, Cluster, FactsKind, Json, JsonMap, Node, NodeId};
use stoker_store::{List, NodeFilter, Session, WriteTransaction};
use stoker_diagnostics::Diagnostics;
use stoker_yaml::{NodeKind, Scalar};

use crate::http::error::{ApiError, ApiResult};
use crate::http::query::Query;

/// UID of the document of the provisioning engine, which belongs to no node.
pub(super) const ENGINE: &str = "engine";

/// Returns the nodes of a cluster, or those with the requested IDs.
pub(super) async fn nodes(
    session: &mut Session,
    cluster: &Cluster,
    node_ids: Option<Vec<i64>>,
) -> ApiResult<Vec<Node>> {
    let Some(node_ids) = node_ids else {
        let filter = NodeFilter { cluster: Some(Some(cluster.id)), ..NodeFilter::default() };
        return Ok(session.node_list(&filter, &List::default()).await?.items);
    };
    let ids: Vec<NodeId> = node_ids.iter().map(|id| NodeId(*id)).collect();
    let filter = NodeFilter { ids: Some(ids.clone()), ..NodeFilter::default() };
    let nodes = session.node_list(&filter, &List::default()).await?.items;
    let existing: HashSet<NodeId> = nodes.iter().map(|node| node.id).collect();
    if ids.iter().any(|id| !existing.contains(id)) {
        return Err(ApiError::not_found("NodeCollection"));
    }
    let non_members = nodes.iter().filter(|node| node.cluster_id != Some(cluster.id));
    let non_members: Vec<String> = non_members.map(|node| node.id.to_string()).collect();
    require_no_non_members(cluster, &non_members)?;
    Ok(nodes)
}

fn require_no_non_members(cluster: &Cluster, non_members: &[String]) -> ApiResult<()> {
    if non_members.is_empty() {
        return Ok(());
    }
    Err(ApiError::bad_request(format!(
        "Nodes {} do not belong to cluster {}",
        non_members.join(", "),
        cluster.id
    )))
}

/// Reads `nodes` and `split` from a query.
pub(super) fn selection(mut query: Query) -> ApiResult<(Option<Vec<i64>>, bool)> {
    let nodes = query.ids("nodes");
    let split = query.boolean("split");
    query.finish()?;
    Ok((nodes, split))
}

/// Parses the document of a node: a map with `uid`, which may be a number.
pub(super) fn read_document(node: &stoker_yaml::Node, problems: &mut Diagnostics) -> Option<(String, JsonMap)> {
    let mut document = json_map(node, problems)?;
    let uid = node.get("uid").map(|uid| (&uid.kind, uid));
    let uid = match uid {
        Some((NodeKind::Scalar(Scalar::Str(text)), _)) => text.to_string(),
        Some((NodeKind::Scalar(Scalar::Int(id)), _)) => id.to_string(),
        Some((_, uid)) => {
            problems.in_key("uid", |problems| {
                report_wrong_type(uid, "the id of a node", problems);
            });
            return None;
        }
        None => {
            problems.error(stoker_manifest::codes::MISSING, node.span, "`uid` is missing");
            return None;
        }
    };
    document.insert("uid".to_owned(), Json::from(uid.clone()));
    Some((uid, document))
}

/// Stores documents of nodes of the cluster, and of `shared`, which belongs to no node. Duplicate UIDs are
/// errors.
pub(super) async fn store_facts(
    writing: &mut WriteTransaction,
    cluster: &mut Cluster,
    kind: FactsKind,
    shared: &str,
    documents: Vec<(String, JsonMap)>,
) -> ApiResult<()> {
    let members = nodes(writing, cluster, None).await?;
    let mut remaining_uids: HashSet<String> = members.iter().map(|node| node.id.to_string()).collect();
    remaining_uids.insert(shared.to_owned());
    let non_members = documents.iter().filter(|(uid, _)| !remaining_uids.contains(uid));
    let non_members: Vec<String> = non_members.map(|(uid, _)| uid.chars().take(60).collect()).collect();
    require_no_non_members(cluster, &non_members)?;
    if let Some((uid, _)) = documents.iter().find(|(uid, _)| !remaining_uids.remove(uid)) {
        return Err(ApiError::bad_request(format!("duplicate document with the uid `{uid}`")));
    }
    let documents: Vec<(String, Json)> =
        documents.into_iter().map(|(uid, document)| (uid, Json::Object(document))).collect();
    writing.facts_put(cluster.id, kind, &documents).await?;
    cluster.is_customized = true;
    *cluster = writing.cluster_update(cluster).await?;
    Ok(())
}

/// Deletes the uploaded facts of one kind.
pub(super) async fn delete_facts(
    writing: &mut WriteTransaction,
    cluster: &mut Cluster,
    kind: FactsKind,
) -> ApiResult<()> {
    writing.facts_delete(cluster.id, kind).await?;
    let other = match kind {
        FactsKind::Deployment => FactsKind::Provisioning,
        FactsKind::Provisioning => FactsKind::Deployment,
    };
    cluster.is_customized = !writing.facts_get(cluster.id, other).await?.is_empty();
    *cluster = writing.cluster_update(cluster).await?;
    Ok(())
}

pub(super) fn describe(action: &'static str, cluster: &Cluster, kind: FactsKind) -> AuditChange {
    AuditChange { action, target: format!("cluster {}", cluster.id), detail: json!({"kind": kind.as_str()}) }
}
