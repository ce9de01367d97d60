//! Deletion of nodes.

use std::collections::HashSet;

use serde_json::json;
use stoker_model::{AgentUid, AuditChange, ClusterId, Node, Run, RunName};
use stoker_store::WriteTransaction;

use crate::error::ServiceResult;
use crate::runs::records::{finished_run, require_idle_for};

/// Deleted nodes.
pub struct DeletedNodes {
    /// Record of the deletion.
    pub run: Run,
    /// UID and credential digest of each agent, whose connections the caller closes.
    pub agents: Vec<(AgentUid, Option<String>)>,
}

/// Deletes nodes that were read in the same transaction, unless a run of their clusters is active.
pub async fn nodes_delete(mut writing: WriteTransaction, nodes: &[Node]) -> ServiceResult<DeletedNodes> {
    let clusters: HashSet<Option<ClusterId>> = nodes.iter().map(|node| node.cluster_id).collect();
    for cluster_id in clusters.iter().flatten() {
        require_idle_for(&mut writing, *cluster_id, "deleting nodes").await?;
    }
    let mut agents = Vec::new();
    for node in nodes {
        let uid = AgentUid::from(node.id);
        let digest = writing.agent_digest(&uid).await?;
        agents.push((uid, digest));
        writing.node_delete(node.id).await?;
    }
    let ids: Vec<i64> = nodes.iter().map(|node| node.id.0).collect();
    let detail = json!({"nodes": ids});
    let message = format!("{} node(s) deleted", ids.len());
    // A deletion of nodes of several clusters is recorded without a cluster.
    let cluster_id = if clusters.len() == 1 { clusters.into_iter().next().flatten() } else { None };
    let run = finished_run(&mut writing, RunName::NodeDeletion, cluster_id, message, detail.clone()).await?;
    let target = match &ids[..] {
        [id] => format!("node {id}"),
        _ => "nodes".to_owned(),
    };
    writing.commit(AuditChange { action: "node.delete", target, detail }).await?;
    Ok(DeletedNodes { run, agents })
}
