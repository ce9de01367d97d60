//! Updates of existing nodes.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::json;
use stoker_diagnostics::Diagnostic;
use stoker_manifest::reader::FieldUpdate;
use stoker_model::{
    AuditChange, Cluster, ClusterId, JsonMap, Node, NodeErrorKind, NodeId, NodeStatus, Resource, TenantId,
};
use stoker_settings::Server;
use stoker_store::{AppliedScope, Session, StoreError, WriteTransaction};

use crate::cluster_settings::condition_models;
use crate::clusters::{deployed_conflicts, restricted_roles, role_problems};
use crate::error::{ServiceError, ServiceResult};
use crate::metadata::holder::{NamedSection, RoleOwner};
use crate::modules::automatic::enqueue_for;
use crate::precondition::Precondition;
use crate::quotas::check_quota;
use crate::role_limits::ClusterRoles;

/// Changed fields of a node; absent fields keep their values.
#[derive(Debug, Default)]
pub struct NodeUpdate {
    pub id: Option<NodeId>,
    pub mac: Option<String>,
    pub name: Option<String>,
    pub hostname: Option<String>,
    pub labels: Option<JsonMap>,
    pub status: Option<NodeStatus>,
    pub online: Option<bool>,
    pub roles: Option<Vec<String>>,
    pub pending_roles: Option<Vec<String>>,
    pub pending_addition: Option<bool>,
    pub pending_deletion: Option<bool>,
    pub cluster: FieldUpdate<ClusterId>,
    pub meta: Option<JsonMap>,
    pub ip: FieldUpdate<String>,
    pub error_type: FieldUpdate<NodeErrorKind>,
    pub error_msg: FieldUpdate<String>,
    pub progress: Option<i64>,
    pub group_id: FieldUpdate<i64>,
    pub manufacturer: FieldUpdate<String>,
    pub platform_name: FieldUpdate<String>,
    pub os_platform: FieldUpdate<String>,
    pub kernel_params: FieldUpdate<String>,
}

/// An updated node.
#[derive(Debug)]
pub struct UpdatedNode {
    pub node: Node,
    /// Recommendations of the roles that the node received.
    pub warnings: Vec<Diagnostic>,
}

/// Updates a node that was read in the same transaction.
pub async fn node_update(
    server: &Server,
    mut writing: WriteTransaction,
    node: Node,
    precondition: &Precondition,
    update: NodeUpdate,
) -> ServiceResult<UpdatedNode> {
    precondition.check(node.generation)?;
    if update.id.is_some_and(|id| id != node.id) {
        return Err(ServiceError::invalid(format!("cannot change the ID of node {}", node.id)));
    }
    let Changed { node, gainer, roles } = change(&mut writing, node, update).await?;
    let warnings = within_limits(&mut writing, &[roles]).await?.into_iter().flatten().collect();
    within_quotas(server, &mut writing, gainer.into_iter()).await?;
    let detail = json!({"name": node.name, "cluster_id": node.cluster_id.map(|id| id.0)});
    let target = format!("node {}", node.id);
    writing.commit(AuditChange { action: "node.update", target, detail }).await?;
    Ok(UpdatedNode { node, warnings })
}

/// Finds the nodes that the updates name by ID or MAC address, in the same order. No node may be named twice.
pub async fn nodes_named(session: &mut Session, updates: &[NodeUpdate]) -> ServiceResult<Vec<Node>> {
    let mut nodes = Vec::with_capacity(updates.len());
    let mut node_ids = HashSet::new();
    for (index, update) in updates.iter().enumerate() {
        let node = find_node(session, update, index).await?;
        if !node_ids.insert(node.id) {
            return Err(ServiceError::invalid(format!("node {} is listed more than once", node.id)));
        }
        nodes.push(node);
    }
    Ok(nodes)
}

/// Updates nodes that were read in the same transaction. Atomic: if one node cannot be updated, no node is.
pub async fn node_update_all(
    server: &Server,
    mut writing: WriteTransaction,
    updates: Vec<(Node, NodeUpdate)>,
) -> ServiceResult<Vec<UpdatedNode>> {
    let mut changed = Vec::with_capacity(updates.len());
    for (node, update) in updates {
        changed.push(change(&mut writing, node, update).await?);
    }
    // Checked at the end: one node may take over the role of another one.
    let gained: Vec<Option<(Cluster, Vec<String>)>> =
        changed.iter_mut().map(|changed| changed.roles.take()).collect();
    let warnings = within_limits(&mut writing, &gained).await?;
    within_quotas(server, &mut writing, changed.iter().filter_map(|changed| changed.gainer)).await?;
    let ids: Vec<i64> = changed.iter().map(|changed| changed.node.id.0).collect();
    let target = "nodes".to_owned();
    writing.commit(AuditChange { action: "node.update", target, detail: json!({"nodes": ids}) }).await?;
    let updated = changed.into_iter().zip(warnings);
    Ok(updated.map(|(changed, warnings)| UpdatedNode { node: changed.node, warnings }).collect())
}

/// Finds the node of an entry: by ID, else by MAC address.
async fn find_node(session: &mut Session, update: &NodeUpdate, index: usize) -> ServiceResult<Node> {
    let node = match (update.id, &update.mac) {
        (Some(id), _) => session.node_get(id).await?,
        (None, Some(mac)) => session.node_by_mac(mac).await?,
        (None, None) => {
            return Err(ServiceError::invalid(format!("entry {index}: MAC or ID is not specified")));
        }
    };
    node.ok_or_else(|| ServiceError::invalid(format!("entry {index}: Invalid ID or MAC specified")))
}

/// Result of an update.
struct Changed {
    node: Node,
    /// Tenant whose number of nodes increased.
    gainer: Option<TenantId>,
    /// Roles that the node did not have before, and its cluster.
    roles: Option<(Cluster, Vec<String>)>,
}

/// Applies the update to a node. The caller must check quotas with `within_quotas` before it commits.
async fn change(
    writing: &mut WriteTransaction,
    mut node: Node,
    update: NodeUpdate,
) -> ServiceResult<Changed> {
    let (before, status, was_leaving) = (node.cluster_id, node.status, node.pending_deletion);
    move_to(writing, &mut node, &update.cluster).await?;
    let is_joining = before.is_none();
    rename(&mut node, update.hostname.as_deref())?;
    let (roles, pending_roles) = (update.roles.clone(), update.pending_roles.clone());
    apply(&mut node, update);
    let mut gained = None;
    let is_new = |new: Option<&Vec<String>>, old: &Vec<String>| new.is_some_and(|new| new != old);
    if is_new(roles.as_ref(), &node.roles) || is_new(pending_roles.as_ref(), &node.pending_roles) {
        let old_roles = [&node.roles[..], &node.pending_roles].concat();
        node.roles = roles.unwrap_or(node.roles);
        node.pending_roles = pending_roles.unwrap_or(node.pending_roles);
        gained = check_roles(writing, &node, &old_roles).await?;
    }
    // Nodes that are marked for removal do not count towards the limits of roles.
    if was_leaving
        && !node.pending_deletion
        && let Some(cluster) = cluster(writing, &node).await?
    {
        gained = Some((cluster, [&node.roles[..], &node.pending_roles].concat()));
    }
    let node = writing.node_update(&node).await.map_err(|error| duplicate_error(error, &node))?;
    if node.status != status && node.status.is_fresh() {
        writing.applied_invalidate(&[&node.id.to_string()], AppliedScope::Everywhere).await?;
    }
    let mut gainer = None;
    if is_joining && let Some(cluster) = node.cluster_id {
        let cluster = writing.cluster_get(cluster).await?;
        if let Some(cluster) = cluster {
            enqueue_for(writing, &cluster, std::slice::from_ref(&node)).await?;
            gainer = Some(cluster.tenant_id);
        }
    }
    Ok(Changed { node, gainer, roles: gained })
}

/// Checks that no role has more nodes than its maximum, for the roles that nodes have received. Returns the recommendations
/// of these roles for each node, in the same order.
async fn within_limits(
    writing: &mut WriteTransaction,
    gained: &[Option<(Cluster, Vec<String>)>],
) -> ServiceResult<Vec<Vec<Diagnostic>>> {
    let mut by_cluster: BTreeMap<ClusterId, (&Cluster, BTreeSet<&str>)> = BTreeMap::new();
    for (cluster, roles) in gained.iter().flatten() {
        let (_, all) = by_cluster.entry(cluster.id).or_insert_with(|| (cluster, BTreeSet::new()));
        all.extend(roles.iter().map(String::as_str));
    }
    let (mut limits, mut exceeded) = (BTreeMap::new(), Vec::new());
    for (id, (cluster, roles)) in by_cluster {
        let cluster_roles = ClusterRoles::read(writing, cluster).await?;
        exceeded.extend(cluster_roles.maxima(&roles.into_iter().collect::<Vec<_>>()));
        limits.insert(id, cluster_roles);
    }
    if !exceeded.is_empty() {
        return Err(ServiceError::refused(exceeded));
    }
    let warnings = |gained: &Option<(Cluster, Vec<String>)>| {
        let (cluster, roles) = gained.as_ref()?;
        let roles: Vec<&str> = roles.iter().map(String::as_str).collect();
        Some(limits.get(&cluster.id)?.assignment_warnings(&roles))
    };
    Ok(gained.iter().map(|gained| warnings(gained).unwrap_or_default()).collect())
}

/// Checks the node quota of each tenant whose number of nodes increased, once per request.
async fn within_quotas(
    server: &Server,
    writing: &mut WriteTransaction,
    gainers: impl Iterator<Item = TenantId>,
) -> ServiceResult<()> {
    let gainers: HashSet<TenantId> = gainers.collect();
    for tenant in gainers {
        check_quota(server.limits.quotas, writing, tenant, Resource::Nodes).await?;
    }
    Ok(())
}

/// Moves a node into a cluster or out of its cluster.
async fn move_to(
    writing: &mut WriteTransaction,
    node: &mut Node,
    requested: &FieldUpdate<ClusterId>,
) -> ServiceResult<()> {
    match *requested {
        FieldUpdate::Absent => Ok(()),
        FieldUpdate::Null => {
            if node.cluster_id.is_some() {
                node.leave_cluster();
            }
            Ok(())
        }
        FieldUpdate::Value(id) if node.cluster_id == Some(id) => Ok(()),
        FieldUpdate::Value(id) => {
            if let Some(other) = node.cluster_id {
                let message =
                    format!("node {} belongs to cluster {other}; remove it from that cluster first", node.id);
                return Err(ServiceError::invalid(message));
            }
            if writing.cluster_get(id).await?.is_none() {
                return Err(ServiceError::invalid(format!("cluster {id} does not exist")));
            }
            node.join_cluster(id);
            Ok(())
        }
    }
}

fn rename(node: &mut Node, hostname: Option<&str>) -> ServiceResult<()> {
    let Some(hostname) = hostname.filter(|hostname| *hostname != node.hostname) else { return Ok(()) };
    if node.status != NodeStatus::Discover {
        return Err(ServiceError::forbidden("Node hostname may be changed only before provisioning."));
    }
    hostname.clone_into(&mut node.hostname);
    Ok(())
}

fn apply(node: &mut Node, update: NodeUpdate) {
    fn set<T>(old: &mut T, new: Option<T>) {
        if let Some(new) = new {
            *old = new;
        }
    }
    set(&mut node.mac, update.mac);
    set(&mut node.name, update.name);
    set(&mut node.labels, update.labels);
    set(&mut node.status, update.status);
    set(&mut node.online, update.online);
    set(&mut node.pending_addition, update.pending_addition);
    set(&mut node.pending_deletion, update.pending_deletion);
    set(&mut node.meta, update.meta);
    set(&mut node.progress, update.progress);
    update.ip.apply(&mut node.ip);
    update.error_type.apply(&mut node.error_type);
    update.error_msg.apply(&mut node.error_msg);
    update.group_id.apply(&mut node.group_id);
    update.manufacturer.apply(&mut node.manufacturer);
    update.platform_name.apply(&mut node.platform_name);
    update.os_platform.apply(&mut node.os_platform);
    update.kernel_params.apply(&mut node.kernel_params);
}

/// Checks the roles of a node, and returns those that it did not have before. Restrictions apply only to these.
async fn check_roles(
    writing: &mut WriteTransaction,
    node: &Node,
    old_roles: &[String],
) -> ServiceResult<Option<(Cluster, Vec<String>)>> {
    if node.roles.is_empty() && node.pending_roles.is_empty() {
        return Ok(None);
    }
    let Some(cluster) = cluster(writing, node).await? else {
        return Err(ServiceError::invalid(format!(
            "node {} has no cluster and cannot have roles; assign it to a cluster first",
            node.id
        )));
    };
    let models = condition_models(writing, &cluster).await?;
    let known_roles = RoleOwner::of_cluster(writing, cluster.clone()).await?.all(NamedSection::Roles);
    let (mut reasons, mut gained) = (Vec::new(), Vec::new());
    for (path, roles) in [("roles", &node.roles), ("pending_roles", &node.pending_roles)] {
        let new: Vec<&String> = roles.iter().filter(|role| !old_roles.contains(role)).collect();
        let mut problems = role_problems(cluster.id, &known_roles, roles);
        problems.extend(restricted_roles(&models, &known_roles, new.iter().copied()));
        gained.extend(new.into_iter().cloned());
        if path == "pending_roles" {
            problems.extend(deployed_conflicts(&known_roles, roles, &node.roles));
        }
        reasons.extend(problems.into_iter().map(|problem| Diagnostic::plain(problem).path(path)));
    }
    if reasons.is_empty() { Ok(Some((cluster, gained))) } else { Err(ServiceError::refused(reasons)) }
}

async fn cluster(writing: &mut WriteTransaction, node: &Node) -> ServiceResult<Option<Cluster>> {
    match node.cluster_id {
        Some(id) => Ok(writing.cluster_get(id).await?),
        None => Ok(None),
    }
}

fn duplicate_error(error: StoreError, node: &Node) -> ServiceError {
    match error {
        StoreError::AlreadyExists { what: "hostname" } => {
            let cluster = node.cluster_id.map(|id| format!(" in cluster {id}")).unwrap_or_default();
            ServiceError::conflict(format!("hostname `{}` is already in use{cluster}", node.hostname))
        }
        StoreError::AlreadyExists { .. } => {
            ServiceError::conflict(format!("MAC address {} is already in use by another node", node.mac))
        }
        error => error.into(),
    }
}
