//! Settings of a cluster as one document.

use stoker_model::{Cluster, JsonMap, Release};
use stoker_store::Session;

use super::plugins::sections;
use crate::api::clusters::settings::Defaults;
use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

pub(super) async fn release_of(session: &mut Session, cluster: &Cluster) -> ApiResult<Release> {
    let release = session.release_get(cluster.release_id).await?;
    release.ok_or_else(|| ApiError::not_found("Release"))
}

/// Returns the settings of the cluster, followed by one section per plugin.
pub(super) async fn settings(session: &mut Session, cluster: &Cluster) -> ApiResult<JsonMap> {
    let release = release_of(session, cluster).await?;
    let mut editable = cluster.editable.clone();
    for section in sections(session, cluster, &release.body).await? {
        editable.insert(section.name.clone(), section.view());
    }
    Ok(editable)
}

/// Returns the defaults of the release. Generated values that the cluster already has are retained.
pub(super) fn default_settings(app: &App, cluster: &Cluster, release: &Release) -> ApiResult<JsonMap> {
    Defaults::new(app, cluster, &release.body, app.clock.now()).editable(Some(&cluster.editable))
}
