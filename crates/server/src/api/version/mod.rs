//! Version information, available without authentication.

use stoker_api_types::version::Version;
use stoker_model::Permission;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::routes::Routes;
use crate::http::response::ApiResponse;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("server").add(Permission::Public, routes!(version_show)).finish()
}

/// Retrieve the server version
#[utoipa::path(get, path = "/api/v1/version", responses((status = 200, body = Version)))]
async fn version_show() -> ApiResponse<Version> {
    ApiResponse::ok(Version {
        api: "1".into(),
        auth_required: true,
        feature_groups: vec!["experimental".into(), "advanced".into()],
        openstack_version: "mitaka-10.0".into(),
        release: "10.0".into(),
        stoker: env!("CARGO_PKG_VERSION").into(),
    })
}
