//! Assignment of nodes and their roles to clusters.

use serde_json::json;
use stoker_diagnostics::Diagnostic;
use stoker_model::{AuditChange, Cluster, Node, NodeId, Resource, RunId};
use stoker_settings::Server;
use stoker_store::WriteTransaction;

use super::members::{load, nodes_of_other_clusters, not_assigned};
use super::node_roles::{deployed_conflicts, restricted_roles, role_problems};
use crate::error::{ServiceError, ServiceResult};
use crate::modules::automatic::enqueue_for;
use crate::quotas::check_quota;
use crate::role_limits::ClusterRoles;
use crate::runs::records::active;

/// Assigned nodes.
#[derive(Debug)]
pub struct AssignedNodes {
    /// Module runs, which the caller starts.
    pub modules: Vec<RunId>,
    /// Recommendations of the assigned roles that the cluster does not meet.
    pub warnings: Vec<Diagnostic>,
}

/// Adds nodes to a cluster and sets their pending roles, which the next run deploys. Atomic.
pub async fn nodes_assign(
    server: &Server,
    mut writing: WriteTransaction,
    cluster: &Cluster,
    assignments: Vec<(NodeId, Vec<String>)>,
) -> ServiceResult<AssignedNodes> {
    let ids: Vec<NodeId> = assignments.iter().map(|(id, _)| *id).collect();
    let nodes = load(&mut writing, &ids).await?;
    let mut cluster_roles = ClusterRoles::read(&mut writing, cluster).await?;
    let ClusterRoles { metadata, models, .. } = &cluster_roles;
    let mut gained: Vec<String> = Vec::new();
    let mut reasons = nodes_of_other_clusters(cluster, &nodes);
    for (index, ((_, roles), node)) in assignments.iter().zip(&nodes).enumerate() {
        let path = format!("[{index}].roles");
        // Restrictions apply only to roles that the node does not have yet.
        let has = |role: &String| {
            node.cluster_id == Some(cluster.id)
                && (node.roles.contains(role) || node.pending_roles.contains(role))
        };
        let new: Vec<&String> = roles.iter().filter(|role| !has(role)).collect();
        let mut problems = role_problems(cluster.id, metadata, roles);
        problems.extend(deployed_conflicts(metadata, roles, &node.roles));
        problems.extend(restricted_roles(models, metadata, new.iter().copied()));
        // The assignment cancels a pending deletion, so that the deployed roles count towards their limits again.
        let returning: &[String] = if node.pending_deletion { &node.roles } else { &[] };
        for role in roles.iter().filter(|role| node.pending_deletion || !has(role)).chain(returning) {
            if !gained.contains(role) {
                gained.push(role.clone());
            }
        }
        reasons.extend(problems.into_iter().map(|text| Diagnostic::plain(text).path(&path)));
    }
    if !reasons.is_empty() {
        return Err(ServiceError::refused(reasons));
    }
    let (gained, mut joined) = (gained.iter().map(String::as_str).collect::<Vec<_>>(), Vec::new());
    for (mut node, (_, roles)) in nodes.into_iter().zip(assignments) {
        let is_new = node.cluster_id != Some(cluster.id);
        assign(&mut node, cluster, roles);
        let node = writing.node_update(&node).await.map_err(|error| not_assigned(error, &node, cluster))?;
        joined.extend(is_new.then_some(node));
    }
    cluster_roles.read_nodes(&mut writing, cluster.id).await?;
    // A maximum that a change of settings has lowered does not block other roles.
    let exceeded = cluster_roles.maxima(&gained);
    if !exceeded.is_empty() {
        return Err(ServiceError::refused(exceeded));
    }
    if !joined.is_empty() {
        check_quota(server.limits.quotas, &mut writing, cluster.tenant_id, Resource::Nodes).await?;
    }
    let modules = enqueue_for(&mut writing, cluster, &joined).await?;
    writing.commit(describe("cluster.assign", cluster, &ids)).await?;
    Ok(AssignedNodes { modules, warnings: cluster_roles.assignment_warnings(&gained) })
}

fn assign(node: &mut Node, cluster: &Cluster, roles: Vec<String>) {
    if node.cluster_id != Some(cluster.id) {
        node.join_cluster(cluster.id);
    }
    // Assigning roles cancels a pending deletion.
    node.pending_deletion = false;
    node.pending_roles = roles;
}

/// When unassigned nodes leave their cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// With the next run, which executes the deletion graph on them; immediately if they were never deployed.
    WithNextRun,
    /// Immediately, without the deletion graph.
    Now,
}

/// Removes nodes from a cluster. Atomic.
pub async fn nodes_unassign(
    mut writing: WriteTransaction,
    cluster: &Cluster,
    ids: &[NodeId],
    removal: Removal,
) -> ServiceResult<()> {
    let nodes = load(&mut writing, ids).await?;
    let non_members: Vec<String> = nodes
        .iter()
        .filter(|node| node.cluster_id != Some(cluster.id))
        .map(|node| node.id.to_string())
        .collect();
    if !non_members.is_empty() {
        let non_members = non_members.join(", ");
        let message = format!("Nodes [{non_members}] are not members of cluster {}", cluster.id);
        return Err(ServiceError::invalid(message));
    }
    if removal == Removal::Now
        && let Some(run) = active(&mut writing, cluster.id).await?
    {
        return Err(ServiceError::conflict(format!(
            "run {} ({}) is {} in cluster {}; stop it first, or remove the nodes with the next run",
            run.id, run.name, run.status, cluster.id
        )));
    }
    for mut node in nodes {
        match removal {
            Removal::WithNextRun => node.request_removal(),
            Removal::Now => node.leave_cluster(),
        }
        writing.node_update(&node).await.map_err(|error| not_assigned(error, &node, cluster))?;
    }
    writing.commit(describe("cluster.unassign", cluster, ids)).await?;
    Ok(())
}

fn describe(action: &'static str, cluster: &Cluster, ids: &[NodeId]) -> AuditChange {
    let nodes: Vec<i64> = ids.iter().map(|id| id.0).collect();
    AuditChange { action, target: format!("cluster {}", cluster.id), detail: json!({"nodes": nodes}) }
}
