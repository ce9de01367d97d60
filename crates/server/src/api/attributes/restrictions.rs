//! Effects of restrictions on the settings of a cluster.

use axum::extract::State;
use stoker_api_types::attributes::RestrictionView;
use stoker_registry::settings::RestrictedSetting;
use stoker_services::cluster_settings::restricted_settings_of;

use crate::access::caller::Authenticated;
use crate::api::clusters::access::cluster_of;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
use crate::state::App;

pub(super) fn render_restriction(restricted: RestrictedSetting) -> RestrictionView {
    RestrictionView {
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
    Ok(ApiResponse::ok(settings.into_iter().map(render_restriction).collect()).version(cluster.generation))
}
