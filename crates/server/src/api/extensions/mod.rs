//! Extensions of the server, for compatibility: this server has none.

use serde::Serialize;
use stoker_model::Permission;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::routes::Routes;
use crate::http::response::ApiResponse;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("extensions").add(Permission::Read, routes!(extension_list)).finish()
}

#[derive(Serialize, ToSchema)]
#[schema(as = Extension)]
struct ExtensionView {
    #[schema(example = "volume_manager")]
    name: String,
    #[schema(example = "1.0.0")]
    version: String,
    description: String,
    /// Node features that the extension provides.
    provides: Vec<String>,
}

/// List extensions
///
/// Returns the extensions of this server. Always empty, for compatibility.
#[utoipa::path(get, path = "/api/v1/extensions", responses((status = 200, body = [ExtensionView])))]
async fn extension_list() -> ApiResponse<Vec<ExtensionView>> {
    ApiResponse::ok(Vec::new())
}
