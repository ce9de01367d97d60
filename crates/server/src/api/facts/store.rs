//! What both kinds of facts have in common: whose they are, and how supplied ones are kept.

use std::collections::HashSet;

use serde_json::json;
use stoker_manifest::Problems;
use stoker_manifest::reader::{json_map, wrong_kind};
use stoker_model::{Change, Cluster, FactsKind, Json, JsonMap, Node, NodeId};
use stoker_store::{List, NodeFilter, Session, Writing};
use stoker_yaml::{NodeKind, Scalar};

use crate::http::error::{ApiError, ApiResult};
use crate::http::query::Query;

/// The engine of provisioning, which belongs to no node.
pub(super) const ENGINE: &str = "engine";

/// The nodes of a cluster, or those of them that the query names.
pub(super) async fn nodes(
    session: &mut Session,
    cluster: &Cluster,
    wanted: Option<Vec<i64>>,
) -> ApiResult<Vec<Node>> {
    let Some(wanted) = wanted else {
        let filter = NodeFilter { cluster: Some(Some(cluster.id)), ..NodeFilter::default() };
        return Ok(session.node_list(&filter, &List::default()).await?.items);
    };
    let ids: Vec<NodeId> = wanted.iter().map(|id| NodeId(*id)).collect();
    let filter = NodeFilter { ids: Some(ids.clone()), ..NodeFilter::default() };
    let nodes = session.node_list(&filter, &List::default()).await?.items;
    let found: HashSet<NodeId> = nodes.iter().map(|node| node.id).collect();
    if ids.iter().any(|id| !found.contains(id)) {
        return Err(ApiError::not_found("NodeCollection"));
    }
    let strangers = nodes.iter().filter(|node| node.cluster_id != Some(cluster.id));
    let strangers: Vec<String> = strangers.map(|node| node.id.to_string()).collect();
    not_of_this_cluster(cluster, &strangers)?;
    Ok(nodes)
}

fn not_of_this_cluster(cluster: &Cluster, strangers: &[String]) -> ApiResult<()> {
    if strangers.is_empty() {
        return Ok(());
    }
    Err(ApiError::bad_request(format!(
        "Nodes {} do not belong to cluster {}",
        strangers.join(", "),
        cluster.id
    )))
}

/// `nodes` and `split` of a query.
pub(super) fn selection(mut query: Query) -> ApiResult<(Option<Vec<i64>>, bool)> {
    let nodes = query.ids("nodes");
    let split = query.boolean("split");
    query.finish()?;
    Ok((nodes, split))
}

/// A document of a node: a map with `uid`, which may be a number.
pub(super) fn read_document(node: &stoker_yaml::Node, problems: &mut Problems) -> Option<(String, JsonMap)> {
    let mut document = json_map(node, problems)?;
    let uid = node.get("uid").map(|uid| (&uid.kind, uid));
    let uid = match uid {
        Some((NodeKind::Scalar(Scalar::Str(text)), _)) => text.to_string(),
        Some((NodeKind::Scalar(Scalar::Int(id)), _)) => id.to_string(),
        Some((_, uid)) => {
            problems.in_key("uid", |problems| {
                wrong_kind(uid, "the id of a node", problems);
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

/// Keeps documents of nodes of the cluster, and of `shared`, which belongs to none. Each uid comes once.
pub(super) async fn keep(
    writing: &mut Writing,
    cluster: &mut Cluster,
    kind: FactsKind,
    shared: &str,
    documents: Vec<(String, JsonMap)>,
) -> ApiResult<()> {
    let members = nodes(writing, cluster, None).await?;
    let mut known: HashSet<String> = members.iter().map(|node| node.id.to_string()).collect();
    known.insert(shared.to_owned());
    let strangers = documents.iter().filter(|(uid, _)| !known.contains(uid));
    let strangers: Vec<String> = strangers.map(|(uid, _)| uid.chars().take(60).collect()).collect();
    not_of_this_cluster(cluster, &strangers)?;
    if let Some((uid, _)) = documents.iter().find(|(uid, _)| !known.remove(uid)) {
        return Err(ApiError::bad_request(format!("there are two documents with the uid `{uid}`")));
    }
    let documents: Vec<(String, Json)> =
        documents.into_iter().map(|(uid, document)| (uid, Json::Object(document))).collect();
    writing.facts_put(cluster.id, kind, &documents).await?;
    cluster.is_customized = true;
    *cluster = writing.cluster_update(cluster).await?;
    Ok(())
}

/// Forgets what was supplied.
pub(super) async fn forget(writing: &mut Writing, cluster: &mut Cluster, kind: FactsKind) -> ApiResult<()> {
    writing.facts_delete(cluster.id, kind).await?;
    let other = match kind {
        FactsKind::Deployment => FactsKind::Provisioning,
        FactsKind::Provisioning => FactsKind::Deployment,
    };
    cluster.is_customized = !writing.facts_get(cluster.id, other).await?.is_empty();
    *cluster = writing.cluster_update(cluster).await?;
    Ok(())
}

pub(super) fn describe(action: &'static str, cluster: &Cluster, kind: FactsKind) -> Change {
    Change { action, target: format!("cluster {}", cluster.id), detail: json!({"kind": kind.as_str()}) }
}
