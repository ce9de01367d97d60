//! Settings of a cluster as one document.

use stoker_model::{Cluster, JsonMap, Micros, Release};
use stoker_settings::Server;
use stoker_store::Session;

use super::defaults::Defaults;
use super::sections::sections;
use crate::error::{ServiceError, ServiceResult};

pub(super) async fn release_of(session: &mut Session, cluster: &Cluster) -> ServiceResult<Release> {
    let release = session.release_get(cluster.release_id).await?;
    release.ok_or_else(|| ServiceError::not_found("Release"))
}

/// Returns the settings of the cluster, followed by one section per plugin.
pub async fn settings(session: &mut Session, cluster: &Cluster) -> ServiceResult<JsonMap> {
    let release = release_of(session, cluster).await?;
    let mut editable = cluster.editable.clone();
    for section in sections(session, cluster, &release.body).await? {
        editable.insert(section.name.clone(), section.view());
    }
    Ok(editable)
}

/// Returns the settings as the release and the plugins declare them. Generated values that the cluster already has are
/// retained.
pub async fn defaults(
    server: &Server,
    session: &mut Session,
    cluster: &Cluster,
    now: Micros,
) -> ServiceResult<JsonMap> {
    let release = release_of(session, cluster).await?;
    let mut editable = default_settings(server, cluster, &release, now)?;
    for section in sections(session, cluster, &release.body).await? {
        editable.insert(section.name.clone(), section.default_view());
    }
    Ok(editable)
}

/// Returns the defaults of the release. Generated values that the cluster already has are retained.
pub(super) fn default_settings(
    server: &Server,
    cluster: &Cluster,
    release: &Release,
    now: Micros,
) -> ServiceResult<JsonMap> {
    Defaults::new(server, cluster, &release.body, now).editable(Some(&cluster.editable))
}
