//! Package installation: creates a plugin, or upgrades an installed plugin.

use axum::extract::State;
use stoker_api_types::plugins::PluginView;
use stoker_model::{Json, JsonMap};
use stoker_services::plugins::Installation;
use utoipa::ToSchema;

use super::plugin_error;
use super::upload::Upload;
use super::view::show;
use crate::access::caller::Authenticated;
use crate::http::error::{ApiError, ApiResult};
use crate::http::response::ApiResponse;
use crate::state::App;

/// Archive that `stoker plugin build` creates.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "documents the request body, which is stored in a file")]
pub(super) struct ArchiveBody(Vec<u8>);

/// Install a package
///
/// The body is an archive that `stoker plugin build` creates. The server verifies its checksums, validates
/// its files and unpacks them below the plugin root. From package version 2 on, a package upgrades an
/// installed plugin of the same name whose version has the same first two components; the plugin keeps its
/// ID. Returns the plugin, with `warnings`.
#[utoipa::path(
    post, path = "/api/v1/plugins/upload",
    request_body(content = ArchiveBody, content_type = "application/octet-stream"),
    responses((status = 200, body = PluginView), (status = 201, body = PluginView))
)]
pub(super) async fn plugin_upload(
    State(app): State<App>,
    login: Authenticated,
    Upload(archive): Upload,
) -> ApiResult<ApiResponse<JsonMap>> {
    let Some(archive) = archive else {
        return Err(ApiError::bad_request("the body is empty: expected a package archive"));
    };
    let installation = app.services.plugins.install(&login.actor(), archive).await.map_err(plugin_error)?;
    let Installation { plugin, is_new, warnings } = installation;
    let generation = plugin.generation;
    let mut view = show(plugin);
    view.insert("warnings".to_owned(), Json::from(warnings));
    let answer = if is_new { ApiResponse::created(view) } else { ApiResponse::ok(view) };
    Ok(answer.version(generation))
}
