//! Extensions of the server, for compatibility: this server has none.

use stoker_api_types::extensions::ExtensionView;
use stoker_model::Permission;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::routes::Routes;
use crate::http::response::ApiResponse;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("extensions").add(Permission::Read, routes!(extension_list)).finish()
}

/// List extensions
///
/// Returns the extensions of this server. Always empty, for compatibility.
#[utoipa::path(get, path = "/api/v1/extensions", responses((status = 200, body = [ExtensionView])))]
async fn extension_list() -> ApiResponse<Vec<ExtensionView>> {
    ApiResponse::ok(Vec::new())
}
