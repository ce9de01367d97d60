//! Updates of existing nodes.

use std::collections::HashSet;

use axum::http::StatusCode;
use stoker_manifest::reader::FieldUpdate;
use stoker_diagnostics::Diagnostic;
use stoker_model::{Cluster, Node, NodeStatus, Resource, TenantId};
use stoker_services::metadata::holder::{NamedSection, RoleOwner};
use stoker_services::modules::automatic::enqueue_for;
use stoker_store::{StoreError, WriteTransaction};

use super::read::Body;
use crate::api::assignment::{restricted_roles, role_problems};
use crate::api::attributes::condition_models;
use crate::http::error::{ApiError, ApiResult};
use crate::limits::check_quota;
use crate::state::App;

/// Result of an update.
pub(super) struct Changed {
    pub(super) node: Node,
    /// Tenant whose number of nodes increased.
    pub(super) gainer: Option<TenantId>,
}

/// Applies the body to a node. The caller must check quotas with `within_quotas` before it commits.
pub(super) async fn change(writing: &mut WriteTransaction, mut node: Node, body: Body) -> ApiResult<Changed> {
    let before = node.cluster_id;
    move_to(writing, &mut node, &body.cluster).await?;
    let is_joining = before.is_none();
    rename(&mut node, body.hostname.as_deref())?;
    let (roles, pending_roles) = (body.roles.clone(), body.pending_roles.clone());
    apply(&mut node, body);
    let is_new = |new: Option<&Vec<String>>, old: &Vec<String>| new.is_some_and(|new| new != old);
    if is_new(roles.as_ref(), &node.roles) || is_new(pending_roles.as_ref(), &node.pending_roles) {
        let old_roles = [&node.roles[..], &node.pending_roles].concat();
        node.roles = roles.unwrap_or(node.roles);
        node.pending_roles = pending_roles.unwrap_or(node.pending_roles);
        check_roles(writing, &node, &old_roles).await?;
    }
    let node = writing.node_update(&node).await.map_err(|error| duplicate_error(error, &node))?;
    let mut gainer = None;
    if is_joining && let Some(cluster) = node.cluster_id {
        let cluster = writing.cluster_get(cluster).await?;
        if let Some(cluster) = cluster {
            enqueue_for(writing, &cluster, std::slice::from_ref(&node)).await?;
            gainer = Some(cluster.tenant_id);
        }
    }
    Ok(Changed { node, gainer })
}

/// Checks the node quota of each tenant whose number of nodes increased, once per request.
pub(super) async fn within_quotas(
    app: &App,
    writing: &mut WriteTransaction,
    gainers: impl Iterator<Item = TenantId>,
) -> ApiResult<()> {
    let gainers: HashSet<TenantId> = gainers.collect();
    for tenant in gainers {
        check_quota(&app.limits, writing, tenant, Resource::Nodes).await?;
    }
    Ok(())
}

/// Moves a node into a cluster or out of its cluster.
async fn move_to(
    writing: &mut WriteTransaction,
    node: &mut Node,
    requested: &FieldUpdate<stoker_model::ClusterId>,
) -> ApiResult<()> {
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
                let message = format!("node {} belongs to cluster {other}; unassign it there first", node.id);
                return Err(ApiError::bad_request(message));
            }
            if writing.cluster_get(id).await?.is_none() {
                return Err(ApiError::bad_request(format!("cluster {id} does not exist")));
            }
            node.join_cluster(id);
            Ok(())
        }
    }
}

fn rename(node: &mut Node, hostname: Option<&str>) -> ApiResult<()> {
    let Some(hostname) = hostname.filter(|hostname| *hostname != node.hostname) else { return Ok(()) };
    if node.status != NodeStatus::Discover {
        return Err(ApiError::new(
            StatusCode::FORBIDDEN,
            "Node hostname may be changed only before provisioning.",
        ));
    }
    hostname.clone_into(&mut node.hostname);
    Ok(())
}

fn apply(node: &mut Node, body: Body) {
    fn set<T>(old: &mut T, new: Option<T>) {
        if let Some(new) = new {
            *old = new;
        }
    }
    set(&mut node.mac, body.mac);
    set(&mut node.name, body.name);
    set(&mut node.labels, body.labels);
    set(&mut node.status, body.status);
    set(&mut node.online, body.online);
    set(&mut node.pending_addition, body.pending_addition);
    set(&mut node.pending_deletion, body.pending_deletion);
    set(&mut node.meta, body.meta);
    set(&mut node.progress, body.progress);
    body.ip.apply(&mut node.ip);
    body.error_type.apply(&mut node.error_type);
    body.error_msg.apply(&mut node.error_msg);
    body.group_id.apply(&mut node.group_id);
    body.manufacturer.apply(&mut node.manufacturer);
    body.platform_name.apply(&mut node.platform_name);
    body.os_platform.apply(&mut node.os_platform);
    body.kernel_params.apply(&mut node.kernel_params);
}

/// Checks the roles of a node. Restrictions apply only to roles that the node did not have before.
async fn check_roles(writing: &mut WriteTransaction, node: &Node, old_roles: &[String]) -> ApiResult<()> {
    if node.roles.is_empty() && node.pending_roles.is_empty() {
        return Ok(());
    }
    let Some(cluster) = cluster(writing, node).await? else {
        return Err(ApiError::bad_request(format!(
            "node {} has no cluster and cannot have roles; assign it to a cluster first",
            node.id
        )));
    };
    let cluster_id = cluster.id;
    let models = condition_models(writing, &cluster).await?;
    let known_roles = RoleOwner::of_cluster(writing, cluster).await?.all(NamedSection::Roles);
    let mut reasons = Vec::new();
    for (path, roles) in [("roles", &node.roles), ("pending_roles", &node.pending_roles)] {
        let mut problems = role_problems(cluster_id, &known_roles, roles);
        problems.extend(restricted_roles(
            &models,
            &known_roles,
            roles.iter().filter(|role| !old_roles.contains(role)),
        ));
        reasons.extend(problems.into_iter().map(|problem| Diagnostic::plain(problem).path(path)));
    }
    if reasons.is_empty() { Ok(()) } else { Err(ApiError::refused(reasons)) }
}

async fn cluster(writing: &mut WriteTransaction, node: &Node) -> ApiResult<Option<Cluster>> {
    match node.cluster_id {
        Some(id) => Ok(writing.cluster_get(id).await?),
        None => Ok(None),
    }
}

pub(super) fn duplicate_error(error: StoreError, node: &Node) -> ApiError {
    match error {
        StoreError::AlreadyExists { what: "hostname" } => {
            let cluster = node.cluster_id.map(|id| format!(" in cluster {id}")).unwrap_or_default();
            ApiError::conflict(format!("hostname `{}` is already in use{cluster}", node.hostname))
        }
        StoreError::AlreadyExists { .. } => {
            ApiError::conflict(format!("MAC address {} is already in use by another node", node.mac))
        }
        error => error.into(),
    }
}
