//! Changes of existing clusters: fields, extensions, deletion and reset.

use serde_json::json;
use stoker_manifest::reader::FieldUpdate;
use stoker_model::{
    AuditChange, Cluster, ClusterId, ClusterStatus, JsonMap, MergeMode, MergeOrder, NodeId, ReleaseId,
    Resource, Run, RunId, RunName, Tenant, TenantRef,
};
use stoker_settings::Server;
use stoker_store::{AppliedScope, List, NodeFilter, Session, WriteTransaction};

use super::create::{describe, name_conflict};
use super::members::set_members;
use super::release_change::change_release;
use crate::error::{ServiceError, ServiceResult};
use crate::metadata::modes;
use crate::precondition::Precondition;
use crate::quotas::check_quota;
use crate::runs::records::{active, fail_active, finished_run, require_idle_for};
use crate::tenants::find_tenant;

/// Changed fields of a cluster; absent fields keep their values.
pub struct ClusterUpdate {
    pub name: Option<String>,
    /// Another release moves the cluster; see [`super::release_preview`].
    pub release_id: Option<ReleaseId>,
    pub mode: Option<String>,
    pub nodes: Option<Vec<NodeId>>,
    /// Must be the components of the cluster.
    pub components: Option<Vec<String>>,
    pub ui_settings: Option<JsonMap>,
    pub tenant: Option<TenantRef>,
    pub merge_order: FieldUpdate<MergeOrder>,
    pub merge_mode: FieldUpdate<MergeMode>,
}

/// Updates a cluster that was read in the same transaction.
pub async fn cluster_update(
    server: &Server,
    mut writing: WriteTransaction,
    mut cluster: Cluster,
    precondition: &Precondition,
    update: ClusterUpdate,
) -> ServiceResult<(Cluster, Option<Tenant>)> {
    precondition.check(cluster.generation)?;
    let before = cluster.tenant_id;
    let nodes = apply(server, &mut writing, &mut cluster, update).await?;
    let cluster = writing.cluster_update(&cluster).await.map_err(name_conflict)?;
    let has_moved = cluster.tenant_id != before;
    let has_joined = match nodes {
        Some(nodes) => set_members(&mut writing, &cluster, &nodes).await?,
        None => false,
    };
    let quotas = server.limits.quotas;
    if has_moved {
        check_quota(quotas, &mut writing, cluster.tenant_id, Resource::Clusters).await?;
    }
    // All nodes of a cluster belong to its tenant.
    if has_moved || has_joined {
        check_quota(quotas, &mut writing, cluster.tenant_id, Resource::Nodes).await?;
    }
    let tenant = writing.tenant_get(cluster.tenant_id).await?;
    writing.commit(describe("cluster.update", &cluster)).await?;
    Ok((cluster, tenant))
}

/// Applies the update to the record. Returns the requested nodes, which the caller stores separately.
async fn apply(
    server: &Server,
    writing: &mut WriteTransaction,
    cluster: &mut Cluster,
    update: ClusterUpdate,
) -> ServiceResult<Option<Vec<NodeId>>> {
    if let Some(release_id) = update.release_id.filter(|id| *id != cluster.release_id) {
        let change = change_release(server, writing, cluster, release_id, update.mode.as_deref()).await?;
        if !change.refusals.is_empty() {
            return Err(ServiceError::refused(change.refusals));
        }
    }
    if let Some(mode) = update.mode.filter(|mode| *mode != cluster.mode) {
        let release = writing.release_get(cluster.release_id).await?;
        let release = release.ok_or_else(|| ServiceError::not_found("Release"))?;
        cluster.mode = modes::choose(&release.body, Some(&mode))?;
    }
    if let Some(tenant) = &update.tenant {
        cluster.tenant_id = find_tenant(writing, tenant).await?.id;
    }
    if let Some(name) = update.name {
        cluster.name = name;
    }
    if update.components.is_some_and(|components| components != cluster.components) {
        return Err(ServiceError::invalid(
            "the components of a cluster cannot be changed after it is created; enable plugins in its settings \
             instead",
        ));
    }
    if let Some(ui_settings) = update.ui_settings {
        cluster.ui_settings = ui_settings;
    }
    update.merge_order.apply(&mut cluster.merge_order);
    update.merge_mode.apply(&mut cluster.merge_mode);
    Ok(update.nodes)
}

/// A deleted cluster.
pub struct DeletedCluster {
    /// Record of the deletion.
    pub run: Run,
    /// Active runs that failed because of the deletion; the caller stops their drivers on this server.
    pub failed: Vec<RunId>,
}

/// Deletes a cluster with its graphs and releases its nodes. With `force`, active runs fail; otherwise they prevent the
/// deletion.
pub async fn cluster_delete(
    mut writing: WriteTransaction,
    cluster: Cluster,
    precondition: &Precondition,
    force: bool,
) -> ServiceResult<DeletedCluster> {
    precondition.check(cluster.generation)?;
    let failed = if force {
        fail_active(&mut writing, cluster.id, "the cluster was deleted").await?
    } else {
        require_idle_for(&mut writing, cluster.id, "deleting").await?;
        Vec::new()
    };
    let nodes = free_nodes(&mut writing, &cluster).await?;
    writing.cluster_delete(cluster.id).await?;
    let message = format!("Cluster '{}' is deleted", cluster.name);
    let result = json!({"cluster_id": cluster.id.0, "nodes": nodes});
    let run = finished_run(&mut writing, RunName::ClusterDeletion, None, message, result).await?;
    writing.commit(describe("cluster.delete", &cluster)).await?;
    Ok(DeletedCluster { run, failed })
}

async fn free_nodes(writing: &mut WriteTransaction, cluster: &Cluster) -> ServiceResult<Vec<i64>> {
    let mut ids = Vec::new();
    for mut node in writing.node_list(&nodes_of(cluster.id), &List::default()).await?.items {
        node.leave_cluster();
        writing.node_update(&node).await?;
        ids.push(node.id.0);
    }
    Ok(ids)
}

/// Deletes the applied state of all nodes, so that the next run executes all tasks again, as for newly discovered nodes.
pub async fn cluster_reset(mut writing: WriteTransaction, mut cluster: Cluster) -> ServiceResult<Run> {
    let id = cluster.id;
    if let Some(run) = active(&mut writing, id).await? {
        return Err(ServiceError::conflict(format!(
            "run {} ({}) is {} in cluster {id}; stop it first",
            run.id, run.name, run.status
        )));
    }
    let nodes = writing.node_list(&nodes_of(id), &List::default()).await?.items;
    let uids: Vec<String> =
        nodes.iter().map(|node| node.id.to_string()).chain(["master".to_owned()]).collect();
    let uids: Vec<&str> = uids.iter().map(String::as_str).collect();
    writing.applied_invalidate(&uids, AppliedScope::InCluster(id)).await?;
    let n_nodes = nodes.len();
    for mut node in nodes {
        node.redeploy();
        writing.node_update(&node).await?;
    }
    cluster.status = ClusterStatus::New;
    writing.cluster_update(&cluster).await?;
    let message = format!("Cluster '{}' was reset", cluster.name);
    let run = finished_run(&mut writing, RunName::ResetEnvironment, Some(id), message, json!({})).await?;
    let target = format!("cluster {id}");
    writing
        .commit(AuditChange { action: "cluster.reset", target, detail: json!({"n_nodes": n_nodes}) })
        .await?;
    Ok(run)
}

fn nodes_of(id: ClusterId) -> NodeFilter {
    NodeFilter { cluster: Some(Some(id)), ..NodeFilter::default() }
}

/// Adds extension names that the release declares.
pub async fn extensions_add(
    mut writing: WriteTransaction,
    mut cluster: Cluster,
    precondition: &Precondition,
    names: Vec<String>,
) -> ServiceResult<Cluster> {
    precondition.check(cluster.generation)?;
    require_declared(&mut writing, &cluster, &names).await?;
    for name in names {
        if !cluster.extensions.contains(&name) {
            cluster.extensions.push(name);
        }
    }
    store_extensions(writing, &cluster).await
}

pub async fn extensions_remove(
    writing: WriteTransaction,
    mut cluster: Cluster,
    precondition: &Precondition,
    names: &[String],
) -> ServiceResult<Cluster> {
    precondition.check(cluster.generation)?;
    let unknown: Vec<&str> =
        names.iter().filter(|name| !cluster.extensions.contains(name)).map(String::as_str).collect();
    if !unknown.is_empty() {
        return Err(ServiceError::invalid(format!("No such extensions to remove: {}", unknown.join(", "))));
    }
    cluster.extensions.retain(|name| !names.contains(name));
    store_extensions(writing, &cluster).await
}

/// Rejects names that the release does not declare.
async fn require_declared(session: &mut Session, cluster: &Cluster, names: &[String]) -> ServiceResult<()> {
    let release = session.release_get(cluster.release_id).await?;
    let offered = release.map(|release| release.body.extensions).unwrap_or_default();
    let is_unknown = |name: &&String| !offered.contains(name) && !cluster.extensions.contains(name);
    let unknown: Vec<&str> = names.iter().filter(is_unknown).map(String::as_str).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let choices = if offered.is_empty() { "none".to_owned() } else { offered.join(", ") };
    let message = format!("No such extensions: {}; the release declares: {choices}", unknown.join(", "));
    Err(ServiceError::invalid(message))
}

async fn store_extensions(mut writing: WriteTransaction, cluster: &Cluster) -> ServiceResult<Cluster> {
    let cluster = writing.cluster_update(cluster).await?;
    writing.commit(describe("cluster.extensions", &cluster)).await?;
    Ok(cluster)
}
