//! Effects of restrictions on the settings of a cluster.

use std::collections::BTreeSet;

use axum::extract::State;
use serde::Serialize;
use stoker_diagnostics::Diagnostic;
use stoker_model::{Cluster, Json, JsonMap, Release};
use stoker_registry::settings::{RestrictedSetting, restricted_settings};
use stoker_services::plugins::condition_models::ConditionModels;
use stoker_store::Session;
use utoipa::ToSchema;

use super::document::release_of;
use super::plugins::{Section, sections};
use crate::access::caller::Authenticated;
use crate::api::clusters::access::cluster_of;
use crate::http::response::ApiResponse;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::state::App;

/// Section, setting or option that a restriction hides or disables.
#[derive(Serialize, ToSchema)]
#[schema(as = RestrictedSetting)]
pub(super) struct RestrictionView {
    /// `section`, `section.setting` or `section.setting[data]`.
    #[schema(example = "storage.volumes_lvm")]
    path: String,
    /// Name of the section.
    section: String,
    /// Name of the setting; null if the restriction applies to the whole section.
    setting: Option<String>,
    /// `data` of the option; null if the restriction applies to the whole setting.
    #[schema(value_type = serde_json::Value)]
    option: Option<Json>,
    hidden: bool,
    disabled: bool,
    /// Messages of the restrictions, for display.
    messages: Vec<String>,
    /// Restrictions that cannot be evaluated and are therefore ignored.
    errors: Vec<String>,
    /// Whether the setting is enabled although a restriction disables it.
    violated: bool,
}

impl From<RestrictedSetting> for RestrictionView {
    fn from(restricted: RestrictedSetting) -> Self {
        Self {
            path: restricted.path(),
            section: restricted.section,
            setting: restricted.setting,
            option: restricted.option,
            hidden: restricted.effect.is_hidden,
            disabled: restricted.effect.is_disabled,
            messages: restricted.effect.messages,
            errors: restricted.errors,
            violated: restricted.is_violated,
        }
    }
}

/// List restricted settings
///
/// Returns the settings that restrictions currently hide or disable, with the reasons.
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/attributes/restrictions", params(("id" = i64, Path)),
    responses((status = 200, body = [RestrictionView]))
)]
pub(super) async fn cluster_attributes_restrictions(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<Vec<RestrictionView>>> {
    let mut session = app.store.snapshot().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    let release = release_of(&mut session, &cluster).await?;
    let sections = sections(&mut session, &cluster, &release.body).await?;
    let settings = restricted(&cluster, &release, &sections);
    Ok(ApiResponse::ok(settings.into_iter().map(RestrictionView::from).collect()).version(cluster.generation))
}

fn restricted(cluster: &Cluster, release: &Release, sections: &[Section]) -> Vec<RestrictedSetting> {
    let settings = settings_of(cluster, sections);
    let models = ConditionModels::of_cluster(cluster, release, settings.clone());
    restricted_settings(&settings, &|name| models.get(name))
}

/// Returns all settings of a cluster as conditions see them.
fn settings_of(cluster: &Cluster, sections: &[Section]) -> JsonMap {
    let mut settings: JsonMap = cluster.editable.clone();
    settings.extend(sections.iter().map(|section| (section.name.clone(), section.model())));
    settings
}

/// Loads the models that conditions about a cluster can refer to.
pub(in crate::api) async fn condition_models(
    session: &mut Session,
    cluster: &Cluster,
) -> ApiResult<ConditionModels> {
    let release = release_of(session, cluster).await?;
    let sections = sections(session, cluster, &release.body).await?;
    Ok(ConditionModels::of_cluster(cluster, &release, settings_of(cluster, &sections)))
}

/// Settings that are enabled although a restriction disables them.
pub(super) struct Violations(Vec<RestrictedSetting>);

impl Violations {
    pub(super) fn of(cluster: &Cluster, release: &Release, sections: &[Section]) -> Self {
        let settings = restricted(cluster, release, sections);
        Self(settings.into_iter().filter(|setting| setting.is_violated).collect())
    }

    /// Reports violations that did not exist before. Existing violations do not block unrelated changes.
    pub(super) fn since(self, before: &Self) -> Vec<Diagnostic> {
        let existing: BTreeSet<String> = before.0.iter().map(RestrictedSetting::path).collect();
        let new = self.0.into_iter().filter(|setting| !existing.contains(&setting.path()));
        let item = |setting: RestrictedSetting| {
            let path = format!("editable.{}", setting.path());
            let message = setting.effect.messages.join(". ");
            let message = if message.is_empty() { "disabled by a restriction".to_owned() } else { message };
            Diagnostic::plain(format!("{path}: {message}")).path(&path).kind("restricted")
        };
        new.map(item).collect()
    }
}
