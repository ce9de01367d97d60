//! Creation, update and deletion of releases.

use serde_json::json;
use stoker_api_types::releases::ReleaseBody;
use stoker_model::{AuditChange, ClusterId, JsonMap, NewPlugin, NewRelease, Owner, Release};
use stoker_store::{List, Session, StoreError, WriteTransaction};

use crate::error::{ServiceError, ServiceResult};
use crate::metadata::embedded_graphs::EmbeddedGraphs;
use crate::metadata::holder::{clusters_of_release, require_unused};
use crate::metadata::sections;
use crate::plugins::conflicts::{Pairing, require_no_conflicts, validate_release};
use crate::precondition::Precondition;

/// Applies an update to a release; absent fields keep their values. Returns the graphs, which the caller must store.
pub fn release_apply(mut update: ReleaseBody, release: &mut NewRelease) -> EmbeddedGraphs {
    // Fuel's documents contain the mapping in `volumes_metadata`.
    let inner = update.volumes_metadata.as_mut().and_then(sections::lift_mapping);
    let mapping = match (inner, update.volumes_roles_mapping) {
        (Some(mut inner), Some(outer)) => {
            inner.extend(outer);
            Some(inner)
        }
        (inner, outer) => inner.or(outer),
    };
    replace(&mut release.name, update.name);
    replace(&mut release.version, update.version);
    replace(&mut release.operating_system, update.operating_system);
    update.description.apply(&mut release.description);
    replace(&mut release.state, update.state);
    replace(&mut release.modes_metadata, update.modes_metadata);
    replace(&mut release.roles_metadata, update.roles_metadata);
    replace(&mut release.tags_metadata, update.tags_metadata);
    replace(&mut release.volumes_roles_mapping, mapping);
    replace(&mut release.attributes_metadata, update.attributes_metadata);
    replace(&mut release.networks_metadata, update.networks_metadata);
    replace(&mut release.volumes_metadata, update.volumes_metadata);
    replace(&mut release.wizard_metadata, update.wizard_metadata);
    replace(&mut release.components_metadata, update.components_metadata);
    replace(&mut release.required_component_types, update.required_component_types);
    replace(&mut release.extensions, update.extensions);
    release.extra.extend(update.own);
    EmbeddedGraphs::new(update.graphs, update.deployment_tasks)
}

fn replace<T>(old: &mut T, new: Option<T>) {
    if let Some(new) = new {
        *old = new;
    }
}

pub async fn release_create(
    mut writing: WriteTransaction,
    new: &NewRelease,
    graphs: EmbeddedGraphs,
) -> ServiceResult<Release> {
    validate(&mut writing, None, new).await?;
    let release = writing.release_create(new).await.map_err(duplicate_error)?;
    let types = graphs.types();
    graphs.create(&mut writing, Owner::Release(release.id)).await?;
    writing.commit(describe("release.create", &release, &types)).await?;
    Ok(release)
}

/// Updates a release that was read in the same transaction. Roles that nodes have cannot be removed.
pub async fn release_update(
    mut writing: WriteTransaction,
    mut release: Release,
    precondition: &Precondition,
    update: ReleaseBody,
) -> ServiceResult<Release> {
    precondition.check(release.generation)?;
    if let Some(roles) = &update.roles_metadata {
        require_roles_kept(&mut writing, &release, roles).await?;
    }
    let before = release.body.clone();
    let graphs = release_apply(update, &mut release.body);
    validate(&mut writing, Some(&before), &release.body).await?;
    let release = writing.release_update(&release).await.map_err(duplicate_error)?;
    let types = graphs.types();
    graphs.apply(&mut writing, Owner::Release(release.id)).await?;
    writing.commit(describe("release.update", &release, &types)).await?;
    Ok(release)
}

/// Deletes a release with its graphs and sequences, unless it has clusters.
pub async fn release_delete(
    mut writing: WriteTransaction,
    release: &Release,
    precondition: &Precondition,
) -> ServiceResult<()> {
    precondition.check(release.generation)?;
    writing.release_delete(release.id).await.map_err(|error| match error {
        StoreError::Referenced { .. } => ServiceError::invalid("Can't delete release with clusters assigned"),
        error => error.into(),
    })?;
    Ok(writing.commit(describe("release.delete", release, &[])).await?)
}

/// Validates a release by itself and against the installed plugins. Problems that existed before are ignored.
async fn validate(
    session: &mut Session,
    before: Option<&NewRelease>,
    release: &NewRelease,
) -> ServiceResult<()> {
    let is_same = before.is_some_and(|before| {
        before.components_metadata == release.components_metadata
            && before.wizard_metadata == release.wizard_metadata
    });
    if is_same {
        return Ok(());
    }
    validate_release(release)?;
    let plugins = session.plugin_list(&List::default()).await?.items;
    let plugins: Vec<&NewPlugin> = plugins.iter().map(|plugin| &plugin.body).collect();
    let before = before.map(|before| (before, &plugins[..]));
    require_no_conflicts(std::iter::once(Pairing { before, after: (release, &plugins) }))
}

/// Rejects the removal of roles that nodes have.
async fn require_roles_kept(
    writing: &mut WriteTransaction,
    release: &Release,
    new: &JsonMap,
) -> ServiceResult<()> {
    let old = release.body.roles_metadata.keys().map(String::as_str);
    let removed_roles: Vec<&str> = old.filter(|role| !new.contains_key(*role)).collect();
    let clusters = clusters_of_release(writing, release.id).await?;
    let clusters: Vec<ClusterId> = clusters.iter().map(|cluster| cluster.id).collect();
    require_unused(writing, &clusters, &removed_roles).await
}

/// Returns the audit log entry of a change.
pub fn describe(action: &'static str, release: &Release, graph_types: &[String]) -> AuditChange {
    let body = &release.body;
    let detail = json!({"name": body.name, "version": body.version, "graphs": graph_types});
    AuditChange { action, target: format!("release {}", release.id), detail }
}

fn duplicate_error(error: StoreError) -> ServiceError {
    match error {
        StoreError::AlreadyExists { .. } => {
            ServiceError::conflict("Release with the same name and version already exists")
        }
        error => error.into(),
    }
}
