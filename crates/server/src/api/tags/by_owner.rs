//! `/{releases|clusters}/{id}/tags/`: the tags of one owner, by name.

use stoker_model::{OwnerKind, Permission};
use utoipa_axum::routes;

use super::change;
use super::view::{NewTagBody, TagBody, TagView};
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
                    .add(Permission::Read, routes!(tag_list))
                    .add(Permission::Operate, routes!(tag_create))
                    .add(Permission::Read, routes!(tag_show))
                    .add(Permission::Operate, routes!(tag_update))
                    .add(Permission::Operate, routes!(tag_delete))
            }

            #[doc = $which]
            #[utoipa::path(
                get, path = $collection, operation_id = concat!(stringify!($module), "_tag_list"),
                params(("id" = i64, Path)), responses((status = 200, body = [TagView]))
            )]
            async fn tag_list(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
            ) -> ApiResult<Answer<Vec<TagView>>> {
                change::list(&app, &login, path.owner($kind)?).await
            }

            /// A new tag of its own
            #[utoipa::path(
                post, path = $collection, operation_id = concat!(stringify!($module), "_tag_create"),
                params(("id" = i64, Path)), request_body = NewTagBody, responses((status = 201, body = TagView))
            )]
            async fn tag_create(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
                document: Document,
            ) -> ApiResult<Answer<TagView>> {
                change::create(&app, &login, path.owner($kind)?, &document).await
            }

            /// A tag of its own
            #[utoipa::path(
                get, path = $member, operation_id = concat!(stringify!($module), "_tag_show"),
                params(("id" = i64, Path), ("name" = String, Path)), responses((status = 200, body = TagView))
            )]
            async fn tag_show(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
            ) -> ApiResult<Answer<TagView>> {
                change::show(&app, &login, path.owner($kind)?, path.text("name")).await
            }

            /// Change a tag of its own; what is not given stays
            #[utoipa::path(
                put, path = $member, operation_id = concat!(stringify!($module), "_tag_update"),
                params(("id" = i64, Path), ("name" = String, Path)), request_body = TagBody,
                responses((status = 200, body = TagView))
            )]
            async fn tag_update(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
                condition: IfMatch,
                document: Document,
            ) -> ApiResult<Answer<TagView>> {
                let which = (path.owner($kind)?, path.text("name"));
                change::update(&app, &login, which, &condition, &document).await
            }

            /// Delete a tag of its own that is not in use
            #[utoipa::path(
                delete, path = $member, operation_id = concat!(stringify!($module), "_tag_delete"),
                params(("id" = i64, Path), ("name" = String, Path)), responses((status = 204))
            )]
            async fn tag_delete(
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
    "/api/v1/releases/{id}/tags",
    "/api/v1/releases/{id}/tags/{name}",
    "The tags of a release"
);
operations_of!(
    cluster,
    OwnerKind::Cluster,
    "/api/v1/clusters/{id}/tags",
    "/api/v1/clusters/{id}/tags/{name}",
    "The tags of a cluster: its own, those of its release and of its enabled plugins"
);
