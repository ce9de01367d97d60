//! Effects of restrictions on the settings of a cluster.

use std::collections::BTreeSet;

use stoker_diagnostics::Diagnostic;
use stoker_model::{Cluster, JsonMap, Release};
use stoker_registry::settings::{RestrictedSetting, restricted_settings};
use stoker_store::Session;

use super::document::release_of;
use super::sections::{Section, sections};
use crate::error::ServiceResult;
use crate::plugins::condition_models::ConditionModels;

/// Returns the settings that restrictions currently hide or disable, with the reasons.
pub async fn restricted_settings_of(
    session: &mut Session,
    cluster: &Cluster,
) -> ServiceResult<Vec<RestrictedSetting>> {
    let release = release_of(session, cluster).await?;
    let sections = sections(session, cluster, &release.body).await?;
    Ok(restricted(cluster, &release, &sections))
}

fn restricted(cluster: &Cluster, release: &Release, sections: &[Section]) -> Vec<RestrictedSetting> {
    let settings = settings_of(cluster, sections);
    let models = ConditionModels::of_cluster(cluster, release, settings.clone());
    restricted_settings(&settings, &|name| models.get(name))
}

/// Returns all settings of a cluster in the form in which conditions read them.
fn settings_of(cluster: &Cluster, sections: &[Section]) -> JsonMap {
    let mut settings: JsonMap = cluster.editable.clone();
    settings.extend(sections.iter().map(|section| (section.name.clone(), section.model())));
    settings
}

/// Loads the values that conditions can read: settings, cluster, release.
pub async fn condition_models(session: &mut Session, cluster: &Cluster) -> ServiceResult<ConditionModels> {
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
