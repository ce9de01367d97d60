//! Version information, available without authentication.

use serde::Serialize;
use stoker_model::Permission;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::routes::Routes;
use crate::http::response::ApiResponse;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("server").add(Permission::Public, routes!(version_show)).finish()
}

/// Version information.
#[derive(Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the field names are those of Fuel")]
struct Version {
    /// Version of the API.
    #[schema(example = "1")]
    api: &'static str,
    /// Whether operations require authentication.
    auth_required: bool,
    /// Feature groups that Fuel clients check.
    feature_groups: Vec<&'static str>,
    /// OpenStack version that Fuel clients check.
    #[schema(example = "mitaka-10.0")]
    openstack_version: &'static str,
    /// Version of Fuel whose clients are supported.
    #[schema(example = "10.0")]
    release: &'static str,
    /// Version of the server.
    stoker: &'static str,
}

/// Retrieve the server version
#[utoipa::path(get, path = "/api/v1/version", responses((status = 200, body = Version)))]
async fn version_show() -> ApiResponse<Version> {
    ApiResponse::ok(Version {
        api: "1",
        auth_required: true,
        feature_groups: vec!["experimental", "advanced"],
        openstack_version: "mitaka-10.0",
        release: "10.0",
        stoker: env!("CARGO_PKG_VERSION"),
    })
}
