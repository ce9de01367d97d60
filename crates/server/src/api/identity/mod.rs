//! Subset of the OpenStack Keystone API that existing clients need for authentication.

mod error;
mod request;
mod v1;
mod v2;
mod v3;

use stoker_model::Permission;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::routes::Routes;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("login")
        .add(Permission::Public, routes!(v2::identity_v2_show))
        .add(Permission::Public, routes!(v2::identity_v2_login))
        .add(Permission::Public, routes!(v3::identity_v3_show))
        .add(Permission::Public, routes!(v3::identity_v3_login))
        .add_unversioned(Permission::Own, routes!(v3::identity_v3_revoke))
        .add(Permission::Public, routes!(v1::identity_v1_login))
        .finish()
}
