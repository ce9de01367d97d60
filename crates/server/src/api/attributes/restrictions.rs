//! Effects of restrictions on the settings of a cluster.

use axum::extract::State;
use serde::Serialize;
use stoker_model::Json;
use stoker_registry::settings::RestrictedSetting;
use stoker_services::cluster_settings::restricted_settings_of;
use utoipa::ToSchema;

use crate::access::caller::Authenticated;
use crate::api::clusters::access::cluster_of;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
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
    let settings = restricted_settings_of(&mut session, &cluster).await?;
    Ok(ApiResponse::ok(settings.into_iter().map(RestrictionView::from).collect()).version(cluster.generation))
}
