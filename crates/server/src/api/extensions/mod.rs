//! Extensions: parts of the server that clusters may switch on.

use serde::Serialize;
use stoker_model::Permission;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::answer::Answer;
use crate::api::routes::Routes;
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
    /// What nodes get from it.
    provides: Vec<String>,
}

/// All extensions of this server: none so far
#[utoipa::path(get, path = "/api/v1/extensions", responses((status = 200, body = [ExtensionView])))]
async fn extension_list() -> Answer<Vec<ExtensionView>> {
    Answer::ok(Vec::new())
}
