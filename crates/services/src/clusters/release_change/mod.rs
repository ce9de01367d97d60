//! Moves a cluster to another release, and shows what follows before.
//!
//! The preview runs the change itself in a transaction that is rolled back, so that it cannot differ from the change. The
//! transaction ends before graphs are merged: writers are serialized, and large graphs take a while.

mod graphs;
mod plugins;
mod settings;

use std::collections::{BTreeMap, BTreeSet};

use stoker_diagnostics::Diagnostic;
use stoker_model::{Cluster, ErrorChain, JsonMap, NodeId, Release, ReleaseId};
use stoker_settings::Server;
use stoker_store::{List, NodeFilter, WriteTransaction};

use self::graphs::{GraphRecords, graph_records, merged_tasks, untyped_overrides};
use self::plugins::move_plugins;
use self::settings::move_settings;
use super::create::require_deployable;
use crate::cluster_settings::Defaults;
use crate::error::{ServiceError, ServiceResult};
use crate::graphs::Graphs;
use crate::metadata::holder::{NamedSection, RoleOwner};
use crate::metadata::modes;
use crate::plugins::catalog::{Catalog, conflict_diagnostic};
use crate::plugins::wizard::decide;
use crate::role_limits::ClusterRoles;
use crate::runs::records::require_idle_for;

pub use self::graphs::{GraphChange, TaskChange};
pub use self::plugins::{PluginChange, PluginEffect};
pub use self::settings::{SettingChange, SettingEffect};

/// What follows when a cluster moves to another release.
pub struct ReleaseChange {
    pub from: Release,
    pub to: Release,
    pub mode: String,
    pub settings: Vec<SettingChange>,
    pub roles_added: Vec<String>,
    pub roles_removed: Vec<String>,
    pub plugins: Vec<PluginChange>,
    /// Reasons that refuse the change.
    pub refusals: Vec<Diagnostic>,
    /// Limits of roles that the nodes of the cluster violate after the change.
    pub warnings: Vec<Diagnostic>,
}

/// A change that was not stored.
pub struct ReleasePreview {
    pub change: ReleaseChange,
    /// Differences of the merged graphs by graph type; types without differences are omitted.
    pub graphs: Vec<GraphChange>,
}

/// A change that was not stored, before its graphs are merged.
pub struct PreviewRecords {
    change: ReleaseChange,
    before: GraphRecords,
    after: GraphRecords,
}

/// Applies the move of a cluster, which was read in the same transaction, and reads the graphs before and after. Stores nothing:
/// the transaction is rolled back.
pub async fn release_preview(
    server: &Server,
    mut writing: WriteTransaction,
    mut cluster: Cluster,
    release_id: ReleaseId,
    mode: Option<&str>,
) -> ServiceResult<PreviewRecords> {
    let before = graph_records(&mut writing, &cluster).await?;
    let change = change_release(server, &mut writing, &mut cluster, release_id, mode).await?;
    let after = graph_records(&mut writing, &cluster).await?;
    Ok(PreviewRecords { change, before, after })
}

impl PreviewRecords {
    /// Compares the merged graphs before and after the change.
    pub async fn merge(self, graphs: &Graphs) -> ServiceResult<ReleasePreview> {
        let before = merged_tasks(graphs, self.before).await?;
        let after = merged_tasks(graphs, self.after).await?;
        Ok(ReleasePreview { change: self.change, graphs: graphs::compare(&before, &after) })
    }
}

/// Moves a cluster to another release within a larger transaction. The caller rolls back if there are refusals.
pub(super) async fn change_release(
    server: &Server,
    writing: &mut WriteTransaction,
    cluster: &mut Cluster,
    release_id: ReleaseId,
    mode: Option<&str>,
) -> ServiceResult<ReleaseChange> {
    require_idle_for(writing, cluster.id, "changing the release").await?;
    let from = writing.release_get(cluster.release_id).await?;
    let from = from.ok_or_else(|| ServiceError::not_found("Release"))?;
    let to = require_deployable(writing, release_id).await?;
    let mut refusals = Vec::new();
    let roles_before = roles(writing, cluster).await?;

    match modes::choose(&to.body, Some(mode.unwrap_or(&cluster.mode))) {
        Ok(mode) => cluster.mode = mode,
        Err(error) => refusals.push(Diagnostic::plain(ErrorChain(&error).to_string()).path("mode")),
    }
    let settings = {
        let old = Defaults::new(server, cluster, &from.body, writing.now());
        let new = Defaults::new(server, cluster, &to.body, writing.now());
        let moved = move_settings(
            &cluster.editable,
            &old.editable(Some(&cluster.editable))?,
            new.editable(Some(&cluster.editable))?,
        );
        cluster.editable = moved.settings;
        // Generated values are retained, so that keys and passwords survive a move and the way back.
        let mut generated = new.generated()?;
        generated.extend(std::mem::take(&mut cluster.generated));
        cluster.generated = generated;
        moved.changes
    };
    if cluster.extensions == from.body.extensions {
        cluster.extensions.clone_from(&to.body.extensions);
    }
    cluster.release_id = to.id;
    *cluster = writing.cluster_update(cluster).await?;

    let defaults = Defaults::new(server, cluster, &to.body, writing.now());
    let (plugins, reasons) = move_plugins(writing, cluster, &from, &to, &defaults).await?;
    refusals.extend(reasons);
    let roles_after = roles(writing, cluster).await?;
    refusals.extend(missing_roles(writing, cluster, &to, &roles_after).await?);
    refusals.extend(component_conflicts(writing, cluster, &to).await?);
    refusals.extend(untyped_overrides(writing, cluster, &to).await?);
    let warnings = ClusterRoles::read(writing, cluster).await?.all_limits();
    let missing_in = |names: &JsonMap, others: &JsonMap| -> Vec<String> {
        names.keys().filter(|name| !others.contains_key(*name)).cloned().collect()
    };
    Ok(ReleaseChange {
        mode: cluster.mode.clone(),
        roles_added: missing_in(&roles_after, &roles_before),
        roles_removed: missing_in(&roles_before, &roles_after),
        from,
        to,
        settings,
        plugins,
        refusals,
        warnings,
    })
}

async fn roles(writing: &mut WriteTransaction, cluster: &Cluster) -> ServiceResult<JsonMap> {
    Ok(RoleOwner::of_cluster(writing, cluster.clone()).await?.all(NamedSection::Roles))
}

/// Reports roles that nodes have and that the cluster would not have after the change.
async fn missing_roles(
    writing: &mut WriteTransaction,
    cluster: &Cluster,
    to: &Release,
    roles: &JsonMap,
) -> ServiceResult<Vec<Diagnostic>> {
    let filter = NodeFilter { cluster: Some(Some(cluster.id)), ..NodeFilter::default() };
    let nodes = writing.node_list(&filter, &List::default()).await?.items;
    let mut missing: BTreeMap<&str, BTreeSet<NodeId>> = BTreeMap::new();
    for node in &nodes {
        let assigned = node.roles.iter().chain(&node.pending_roles);
        for role in assigned.filter(|role| !roles.contains_key(*role)) {
            missing.entry(role).or_default().insert(node.id);
        }
    }
    let refusal = |(role, nodes): (&str, BTreeSet<NodeId>)| {
        let ids: Vec<String> = nodes.iter().map(NodeId::to_string).collect();
        let (noun, verb) = if ids.len() == 1 { ("node", "has") } else { ("nodes", "have") };
        let ids = ids.join(", ");
        let message = format!("{} has no role `{role}`, which {noun} {ids} {verb}", release_label(to));
        let help = "assign roles of the new release to these nodes, or remove them from the cluster";
        Diagnostic::plain(message).path("release_id").help(help)
    };
    Ok(missing.into_iter().map(refusal).collect())
}

/// Reports components of the cluster that are missing or incompatible in the new release.
async fn component_conflicts(
    writing: &mut WriteTransaction,
    cluster: &Cluster,
    to: &Release,
) -> ServiceResult<Vec<Diagnostic>> {
    if cluster.components.is_empty() {
        return Ok(Vec::new());
    }
    let catalog = Catalog::read(writing, to.clone(), Some(&cluster.mode)).await?;
    let registry = catalog.registry();
    let check = decide(&catalog, &registry, &cluster.components);
    let refusal = |finding| conflict_diagnostic(&registry, finding, "release_id");
    Ok(check.conflicts.iter().map(refusal).collect())
}

fn release_label(release: &Release) -> String {
    format!("release `{}` {}", release.body.name, release.body.version)
}
