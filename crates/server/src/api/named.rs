//! Operations that roles and tags share: `/{releases|clusters}/{id}/{roles|tags}/`, addressed by name.

/// Declares the operations on named records of an owner (roles, tags). Only nouns and paths differ; the
/// behaviour is in the `change` module of the resource that uses the macro.
macro_rules! named_operations {
    (
        $module:ident, $kind:expr, $noun:literal, $collection:tt, $member:tt, $list_summary:tt,
        $view:ty, $new:ty, $body:ty
    ) => {
        mod $module {
            use axum::extract::State;
            use stoker_model::{OwnerKind, Permission};
            use utoipa_axum::routes;

            use super::super::change;
            use super::super::view::*;
            use crate::access::caller::Authenticated;
            use crate::http::response::{ApiResponse, NoContent};
            use crate::http::body::Document;
            use crate::http::error::ApiResult;
            use crate::http::etag::IfMatch;
            use crate::http::path::PathParams;
            use crate::api::routes::Routes;
            use crate::state::App;

            pub(super) fn add(routes: Routes) -> Routes {
                routes
                    .add(Permission::Read, routes!(list))
                    .add(Permission::Operate, routes!(create))
                    .add(Permission::Read, routes!(show))
                    .add(Permission::Operate, routes!(update))
                    .add(Permission::Operate, routes!(delete))
            }

            #[doc = $list_summary]
            #[utoipa::path(
                get, path = $collection, operation_id = concat!(stringify!($module), "_", $noun, "_list"),
                params(("id" = i64, Path)), responses((status = 200, body = [$view]))
            )]
            async fn list(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
            ) -> ApiResult<ApiResponse<Vec<$view>>> {
                change::list(&app, &login, path.owner($kind)?).await
            }

            #[utoipa::path(
                post, summary = concat!("Create a ", $noun, " of a ", stringify!($module)),
                path = $collection, operation_id = concat!(stringify!($module), "_", $noun, "_create"),
                params(("id" = i64, Path)), request_body = $new, responses((status = 201, body = $view))
            )]
            async fn create(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
                document: Document,
            ) -> ApiResult<ApiResponse<$view>> {
                change::create(&app, &login, path.owner($kind)?, &document).await
            }

            #[utoipa::path(
                get, summary = concat!("Retrieve a ", $noun, " of a ", stringify!($module)),
                path = $member, operation_id = concat!(stringify!($module), "_", $noun, "_show"),
                params(("id" = i64, Path), ("name" = String, Path)), responses((status = 200, body = $view))
            )]
            async fn show(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
            ) -> ApiResult<ApiResponse<$view>> {
                change::show(&app, &login, path.owner($kind)?, path.text("name")).await
            }

            #[utoipa::path(
                put, summary = concat!("Update a ", $noun, " of a ", stringify!($module)),
                description = "Omitted fields are unchanged.",
                path = $member, operation_id = concat!(stringify!($module), "_", $noun, "_update"),
                params(("id" = i64, Path), ("name" = String, Path)), request_body = $body,
                responses((status = 200, body = $view))
            )]
            async fn update(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
                condition: IfMatch,
                document: Document,
            ) -> ApiResult<ApiResponse<$view>> {
                let (owner, name) = (path.owner($kind)?, path.text("name"));
                change::update(&app, &login, owner, name, &condition, &document).await
            }

            #[utoipa::path(
                delete, summary = concat!("Delete a ", $noun, " of a ", stringify!($module)),
                description = concat!("Fails if the ", $noun, " is in use."),
                path = $member, operation_id = concat!(stringify!($module), "_", $noun, "_delete"),
                params(("id" = i64, Path), ("name" = String, Path)), responses((status = 204))
            )]
            async fn delete(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
                condition: IfMatch,
            ) -> ApiResult<NoContent> {
                let (owner, name) = (path.owner($kind)?, path.text("name"));
                change::delete(&app, &login, owner, name, &condition).await?;
                Ok(NoContent)
            }
        }
    };
}

pub(crate) use named_operations;
