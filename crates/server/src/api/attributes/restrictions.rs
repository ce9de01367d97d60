//! What restrictions do to the settings of a cluster.

use std::collections::BTreeSet;

use axum::extract::State;
use serde::Serialize;
use stoker_model::{Cluster, Json, JsonMap, Release};
use stoker_registry::settings::{RestrictedSetting, restricted_settings};
use stoker_store::Session;
use utoipa::ToSchema;
use stoker_services::ErrorDetail;
use stoker_services::plugins::condition_models::ConditionModels;

use super::document::release_of;
use super::plugins::{Section, sections};
use crate::access::caller::Authenticated;
use crate::api::clusters::access::cluster_of;
use crate::http::answer::Answer;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::state::App;

/// A section, a setting or an option that is not simply there.
#[derive(Serialize, ToSchema)]
#[schema(as = RestrictedSetting)]
pub(super) struct RestrictionView {
    /// `section`, `section.setting` or `section.setting[data]`.
    #[schema(example = "storage.volumes_lvm")]
    path: String,
    section: String,
    /// Null: the whole section.
    setting: Option<String>,
    /// `data` of the option; null: the whole setting.
    #[schema(value_type = serde_json::Value)]
    option: Option<Json>,
    hidden: bool,
    disabled: bool,
    /// What to tell about it.
    messages: Vec<String>,
    /// Restrictions that cannot be evaluated, which do nothing.
    errors: Vec<String>,
    /// Whether it is switched on all the same.
    violated: bool,
}

impl From<RestrictedSetting> for RestrictionView {
    fn from(found: RestrictedSetting) -> Self {
        Self {
            path: found.path(),
            section: found.section,
            setting: found.setting,
            option: found.option,
            hidden: found.effect.is_hidden,
            disabled: found.effect.is_disabled,
            messages: found.effect.messages,
            errors: found.errors,
            violated: found.is_violated,
        }
    }
}

/// Settings that are hidden or disabled now, and why
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/attributes/restrictions", params(("id" = i64, Path)),
    responses((status = 200, body = [RestrictionView]))
)]
pub(super) async fn cluster_attributes_restrictions(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<Answer<Vec<RestrictionView>>> {
    let mut session = app.store.snapshot().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    let release = release_of(&mut session, &cluster).await?;
    let sections = sections(&mut session, &cluster, &release.body).await?;
    let found = restricted(&cluster, &release, &sections);
    Ok(Answer::ok(found.into_iter().map(RestrictionView::from).collect()).version(cluster.generation))
}

fn restricted(cluster: &Cluster, release: &Release, sections: &[Section]) -> Vec<RestrictedSetting> {
    let settings = settings_of(cluster, sections);
    let models = ConditionModels::of_cluster(cluster, release, settings.clone());
    restricted_settings(&settings, &|name| models.get(name))
}

/// All settings of a cluster as conditions see them.
fn settings_of(cluster: &Cluster, sections: &[Section]) -> JsonMap {
    let mut settings: JsonMap = cluster.editable.clone();
    settings.extend(sections.iter().map(|section| (section.name.clone(), section.model())));
    settings
}

/// What conditions about a cluster may ask.
pub(in crate::api) async fn models_of(
    session: &mut Session,
    cluster: &Cluster,
) -> ApiResult<ConditionModels> {
    let release = release_of(session, cluster).await?;
    let sections = sections(session, cluster, &release.body).await?;
    Ok(ConditionModels::of_cluster(cluster, &release, settings_of(cluster, &sections)))
}

/// What is switched on although a restriction disables it.
pub(super) struct Violations(Vec<RestrictedSetting>);

impl Violations {
    pub(super) fn of(cluster: &Cluster, release: &Release, sections: &[Section]) -> Self {
        let found = restricted(cluster, release, sections);
        Self(found.into_iter().filter(|found| found.is_violated).collect())
    }

    /// Those that were not there before: nobody has to mend what somebody else left.
    pub(super) fn since(self, before: &Self) -> Vec<ErrorDetail> {
        let known: BTreeSet<String> = before.0.iter().map(RestrictedSetting::path).collect();
        let fresh = self.0.into_iter().filter(|found| !known.contains(&found.path()));
        let item = |found: RestrictedSetting| {
            let path = format!("editable.{}", found.path());
            let words = found.effect.messages.join(". ");
            let words = if words.is_empty() { "a restriction forbids this".to_owned() } else { words };
            ErrorDetail { kind: Some("restricted"), ..ErrorDetail::new(&path, format!("{path}: {words}")) }
        };
        fresh.map(item).collect()
    }
}
