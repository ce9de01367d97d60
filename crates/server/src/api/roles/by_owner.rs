//! `/{releases|clusters}/{id}/roles/`: the roles of one owner, by name.

use stoker_model::{OwnerKind, Permission};
use utoipa_axum::routes;

use super::change;
use super::view::{NewRoleBody, RoleBody, RoleView};
use crate::access::caller::Authenticated;
use crate::http::answer::{Answer, NoContent};
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
use crate::http::routes::Routes;
use crate::state::App;

pub(super) fn add_all(routes: Routes) -> Routes {
    cluster::add(release::add(routes))
}

/// The operations of one kind of owner. They differ in nothing but the path.
macro_rules! operations_of {
    ($module:ident, $kind:expr, $collection:tt, $member:tt, $which:tt) => {
        mod $module {
            use axum::extract::State;

            use super::*;

            pub(super) fn add(routes: Routes) -> Routes {
                routes
                    .add(Permission::Read, routes!(role_list))
                    .add(Permission::Operate, routes!(role_create))
                    .add(Permission::Read, routes!(role_show))
                    .add(Permission::Operate, routes!(role_update))
                    .add(Permission::Operate, routes!(role_delete))
            }

            #[doc = $which]
            #[utoipa::path(
                get, path = $collection, operation_id = concat!(stringify!($module), "_role_list"),
                params(("id" = i64, Path)), responses((status = 200, body = [RoleView]))
            )]
            async fn role_list(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
            ) -> ApiResult<Answer<Vec<RoleView>>> {
                change::list(&app, &login, path.owner($kind)?).await
            }

            /// A new role of its own
            #[utoipa::path(
                post, path = $collection, operation_id = concat!(stringify!($module), "_role_create"),
                params(("id" = i64, Path)), request_body = NewRoleBody, responses((status = 201, body = RoleView))
            )]
            async fn role_create(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
                document: Document,
            ) -> ApiResult<Answer<RoleView>> {
                change::create(&app, &login, path.owner($kind)?, &document).await
            }

            /// A role of its own
            #[utoipa::path(
                get, path = $member, operation_id = concat!(stringify!($module), "_role_show"),
                params(("id" = i64, Path), ("name" = String, Path)), responses((status = 200, body = RoleView))
            )]
            async fn role_show(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
            ) -> ApiResult<Answer<RoleView>> {
                change::show(&app, &login, path.owner($kind)?, path.text("name")).await
            }

            /// Change a role of its own; what is not given stays
            #[utoipa::path(
                put, path = $member, operation_id = concat!(stringify!($module), "_role_update"),
                params(("id" = i64, Path), ("name" = String, Path)), request_body = RoleBody,
                responses((status = 200, body = RoleView))
            )]
            async fn role_update(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
                condition: IfMatch,
                document: Document,
            ) -> ApiResult<Answer<RoleView>> {
                let which = (path.owner($kind)?, path.text("name"));
                change::update(&app, &login, which, &condition, &document).await
            }

            /// Delete a role of its own that is not in use
            #[utoipa::path(
                delete, path = $member, operation_id = concat!(stringify!($module), "_role_delete"),
                params(("id" = i64, Path), ("name" = String, Path)), responses((status = 204))
            )]
            async fn role_delete(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
                condition: IfMatch,
            ) -> ApiResult<NoContent> {
                let which = (path.owner($kind)?, path.text("name"));
                change::delete(&app, &login, which, &condition).await?;
                Ok(NoContent)
            }
        }
    };
}

operations_of!(
    release,
    OwnerKind::Release,
    "/api/v1/releases/{id}/roles",
    "/api/v1/releases/{id}/roles/{name}",
    "The roles of a release"
);
operations_of!(
    cluster,
    OwnerKind::Cluster,
    "/api/v1/clusters/{id}/roles",
    "/api/v1/clusters/{id}/roles/{name}",
    "The roles of a cluster: its own, those of its release and of its enabled plugins"
);
