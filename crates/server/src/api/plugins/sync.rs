//! Synchronization of plugins with their files below the plugin root.

use axum::extract::State;
use stoker_api_types::plugins::{SyncBody, SyncView};
use stoker_model::PluginId;

use super::plugin_error;
use crate::access::caller::Authenticated;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::response::ApiResponse;
use crate::state::App;

/// Synchronize plugins with their files
///
/// With `ids`, reads the files of these plugins again. Otherwise reads all directories below the plugin root: new
/// directories become plugins, and plugins whose files were removed are deleted unless they are enabled in a
/// cluster. The request is atomic; the problems of all directories are reported together. Duplicate YAML keys are
/// reported in `warnings`.
#[utoipa::path(
    post, path = "/api/v1/plugins/sync", request_body = Option<SyncBody>,
    responses(
        (status = 200, body = SyncView),
        (status = 404, body = stoker_api_types::error::Envelope, description = "A plugin does not exist")
    )
)]
pub(super) async fn plugin_sync(
    State(app): State<App>,
    login: Authenticated,
    document: Option<Document>,
) -> ApiResult<ApiResponse<SyncView>> {
    let ids = document.as_ref().map(read_ids).transpose()?.flatten();
    let warnings = app.services.plugins.sync(&login.actor(), ids).await.map_err(plugin_error)?;
    Ok(ApiResponse::ok(SyncView { warnings }))
}

fn read_ids(document: &Document) -> ApiResult<Option<Vec<PluginId>>> {
    if document.json()?.is_null() {
        return Ok(None);
    }
    let SyncBody { ids } = document.request()?;
    Ok(ids.map(|ids| ids.into_iter().map(PluginId).collect()))
}
