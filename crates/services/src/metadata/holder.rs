//! Owners of roles and tags: a release, or a cluster, which inherits the roles and tags of its release and
//! enabled plugins.

use stoker_model::{Cluster, ClusterId, Json, JsonMap, Owner, Plugin, Release, ReleaseId, TenantId};
use stoker_registry::contributions::restrict_role_to_plugin;
use stoker_store::{ClusterFilter, List, Session, StoreError, WriteTransaction};

use crate::error::{ServiceError, ServiceResult};

use super::sections;

/// Roles or tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedSection {
    Roles,
    Tags,
}

/// A release or cluster with all records that its roles and tags can refer to.
pub struct RoleOwner {
    release: Release,
    /// The cluster and its enabled plugins; `None` for a release.
    cluster: Option<(Cluster, Vec<Plugin>)>,
}

impl RoleOwner {
    /// Finds an owner. `tenant_limit` hides clusters of other tenants.
    pub async fn find(
        session: &mut Session,
        tenant_limit: Option<TenantId>,
        owner: Owner,
    ) -> ServiceResult<Self> {
        match owner {
            Owner::Release(id) => Ok(Self { release: release(session, id).await?, cluster: None }),
            Owner::Cluster(id) => {
                let cluster = session
                    .cluster_get(id)
                    .await?
                    .filter(|cluster| tenant_limit.is_none_or(|limit| limit == cluster.tenant_id));
                let cluster = cluster.ok_or_else(|| ServiceError::not_found("Cluster"))?;
                Self::of_cluster(session, cluster).await
            }
            Owner::Plugin(_) => Err(ServiceError::not_found("Plugin")),
        }
    }

    /// Loads the release and enabled plugins of a cluster that is already loaded.
    pub async fn of_cluster(session: &mut Session, cluster: Cluster) -> ServiceResult<Self> {
        let plugins = enabled_plugins(session, cluster.id).await?;
        Ok(Self { release: release(session, cluster.release_id).await?, cluster: Some((cluster, plugins)) })
    }

    /// Returns `release 1` or `cluster 1`.
    pub fn name(&self) -> String {
        match &self.cluster {
            Some((cluster, _)) => format!("cluster {}", cluster.id),
            None => format!("release {}", self.release.id),
        }
    }

    pub fn generation(&self) -> i64 {
        self.cluster.as_ref().map_or(self.release.generation, |(cluster, _)| cluster.generation)
    }

    /// Returns the entries that the owner itself declares, without inherited entries.
    pub fn declared(&self, part: NamedSection) -> &JsonMap {
        match (&self.cluster, part) {
            (Some((cluster, _)), NamedSection::Roles) => &cluster.roles_metadata,
            (Some((cluster, _)), NamedSection::Tags) => &cluster.tags_metadata,
            (None, _) => of_release(&self.release, part),
        }
    }

    pub fn declared_mut(&mut self, part: NamedSection) -> &mut JsonMap {
        match (&mut self.cluster, part) {
            (Some((cluster, _)), NamedSection::Roles) => &mut cluster.roles_metadata,
            (Some((cluster, _)), NamedSection::Tags) => &mut cluster.tags_metadata,
            (None, NamedSection::Roles) => &mut self.release.body.roles_metadata,
            (None, NamedSection::Tags) => &mut self.release.body.tags_metadata,
        }
    }

    /// Returns one of the entries that the owner itself declares.
    pub fn find_declared(&self, part: NamedSection, name: &str) -> ServiceResult<&Json> {
        self.declared(part).get(name).ok_or_else(|| {
            let excerpt: String = name.chars().take(60).collect();
            let message = format!("{} '{excerpt}' is not found for the {}", part.class(), self.name());
            ServiceError::NotFound(message)
        })
    }

    /// Returns declared and inherited entries by name. Precedence for equal names: the cluster, the release,
    /// plugins.
    pub fn all(&self, part: NamedSection) -> JsonMap {
        let mut all = of_release(&self.release, part).clone();
        let Some((_, plugins)) = &self.cluster else { return all };
        all.extend(self.declared(part).clone());
        for plugin in plugins {
            for (name, meta) in of_plugin(plugin, part) {
                let new_entry = || match part {
                    NamedSection::Roles => restrict_role_to_plugin(meta, &plugin.body.name),
                    NamedSection::Tags => meta.clone(),
                };
                all.entry(name.as_str()).or_insert_with(new_entry);
            }
        }
        all
    }

    /// Returns the volumes of a declared or inherited role.
    pub fn volumes_of_role(&self, role: &str) -> Vec<Json> {
        let own = self.cluster.iter().map(|(cluster, _)| &cluster.volumes_roles_mapping);
        let plugins = self.cluster.iter().flat_map(|(_, plugins)| plugins);
        let plugins = plugins.filter_map(|plugin| sections::mapping_in(&plugin.body.volumes_metadata));
        let release = std::iter::once(&self.release.body.volumes_roles_mapping);
        let mapped = own.chain(release).chain(plugins).find_map(|mapping| mapping.get(role));
        mapped.and_then(Json::as_array).cloned().unwrap_or_default()
    }

    /// Sets the volumes of a declared role; `None` removes the role from the mapping.
    pub fn set_volumes_of_role(&mut self, role: &str, volumes: Option<Vec<Json>>) {
        let mapping = match &mut self.cluster {
            Some((cluster, _)) => &mut cluster.volumes_roles_mapping,
            None => &mut self.release.body.volumes_roles_mapping,
        };
        match volumes {
            Some(volumes) => _ = mapping.insert(role.to_owned(), Json::Array(volumes)),
            None => _ = mapping.shift_remove(role),
        }
    }

    /// Returns the ids of volumes that roles may use.
    pub fn volume_ids(&self) -> Vec<&str> {
        let plugins = self.cluster.iter().flat_map(|(_, plugins)| plugins);
        let plugins = plugins.flat_map(|plugin| sections::volume_ids(&plugin.body.volumes_metadata));
        sections::volume_ids(&self.release.body.volumes_metadata).chain(plugins).collect()
    }

    /// Returns the clusters in which its roles and tags are visible.
    pub async fn clusters(&self, session: &mut Session) -> Result<Vec<Cluster>, StoreError> {
        match &self.cluster {
            Some((cluster, _)) => Ok(vec![cluster.clone()]),
            None => clusters_of_release(session, self.release.id).await,
        }
    }

    /// Updates the record and returns its new generation.
    pub async fn store(&self, writing: &mut WriteTransaction) -> Result<i64, StoreError> {
        match &self.cluster {
            Some((cluster, _)) => Ok(writing.cluster_update(cluster).await?.generation),
            None => Ok(writing.release_update(&self.release).await?.generation),
        }
    }
}

impl NamedSection {
    pub const fn class(self) -> &'static str {
        match self {
            Self::Roles => "Role",
            Self::Tags => "Tag",
        }
    }
}

pub async fn clusters_of_release(session: &mut Session, id: ReleaseId) -> Result<Vec<Cluster>, StoreError> {
    let filter = ClusterFilter { release_id: Some(id), ..ClusterFilter::default() };
    Ok(session.cluster_list(&filter, &List::default()).await?.items)
}

/// Rejects the removal of roles that nodes of these clusters have, or have pending.
pub async fn require_unused(
    session: &mut Session,
    clusters: &[ClusterId],
    removed: &[&str],
) -> ServiceResult<()> {
    if removed.is_empty() {
        return Ok(());
    }
    let used = session.roles_in_use(clusters).await?;
    let used: Vec<&str> = removed.iter().copied().filter(|role| used.contains(*role)).collect();
    if used.is_empty() {
        return Ok(());
    }
    Err(ServiceError::invalid(format!("Cannot delete roles already assigned to nodes: {}", used.join(", "))))
}

async fn release(session: &mut Session, id: ReleaseId) -> ServiceResult<Release> {
    session.release_get(id).await?.ok_or_else(|| ServiceError::not_found("Release"))
}

async fn enabled_plugins(session: &mut Session, id: ClusterId) -> Result<Vec<Plugin>, StoreError> {
    let mut plugins = Vec::new();
    for link in session.cluster_plugins(id).await?.into_iter().filter(|link| link.enabled) {
        plugins.extend(session.plugin_get(link.plugin_id).await?);
    }
    Ok(plugins)
}

fn of_release(release: &Release, part: NamedSection) -> &JsonMap {
    match part {
        NamedSection::Roles => &release.body.roles_metadata,
        NamedSection::Tags => &release.body.tags_metadata,
    }
}

fn of_plugin(plugin: &Plugin, part: NamedSection) -> &JsonMap {
    match part {
        NamedSection::Roles => &plugin.body.roles_metadata,
        NamedSection::Tags => &plugin.body.tags_metadata,
    }
}
