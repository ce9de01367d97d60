//! Operations that roles and tags share: `/{releases|clusters}/{id}/{roles|tags}/`, addressed by name.

use serde::Serialize;
use stoker_api_types::Request;
use stoker_model::{Json, Owner};
use stoker_services::ServiceResult;
use stoker_services::metadata::holder::{NamedSection, RoleOwner};
use stoker_services::metadata::named::StoredEntry;
use stoker_store::WriteTransaction;

use crate::access::caller::Authenticated;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::etag::IfMatch;
use crate::http::response::ApiResponse;
use crate::state::App;

/// A kind of record that a release or a cluster declares by name.
pub(crate) trait NamedRecord {
    const SECTION: NamedSection;
    type View: Serialize;
    type New: Request;
    type Update: Request;

    fn render(holder: &RoleOwner, name: &str, meta: Json) -> Self::View;

    async fn create(
        writing: WriteTransaction,
        holder: RoleOwner,
        new: Self::New,
    ) -> ServiceResult<StoredEntry>;

    async fn update(
        writing: WriteTransaction,
        holder: RoleOwner,
        name: &str,
        condition: &IfMatch,
        update: Self::Update,
    ) -> ServiceResult<StoredEntry>;

    async fn delete(
        writing: WriteTransaction,
        holder: RoleOwner,
        name: &str,
        condition: &IfMatch,
    ) -> ServiceResult<()>;
}

pub(crate) async fn list<R: NamedRecord>(
    app: &App,
    login: &Authenticated,
    owner: Owner,
) -> ApiResult<ApiResponse<Vec<R::View>>> {
    let holder = RoleOwner::find(&mut app.store.snapshot().await?, login.tenant_limit(), owner).await?;
    let records = holder.all(R::SECTION).into_iter();
    Ok(ApiResponse::ok(records.map(|(name, meta)| R::render(&holder, &name, meta)).collect()))
}

pub(crate) async fn show<R: NamedRecord>(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    name: &str,
) -> ApiResult<ApiResponse<R::View>> {
    let holder = RoleOwner::find(&mut app.store.snapshot().await?, login.tenant_limit(), owner).await?;
    let meta = holder.find_declared(R::SECTION, name)?.clone();
    Ok(ApiResponse::ok(R::render(&holder, name, meta)).version(holder.generation()))
}

pub(crate) async fn create<R: NamedRecord>(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    document: &Document,
) -> ApiResult<ApiResponse<R::View>> {
    let new: R::New = document.request()?;
    let mut writing = app.change(login).await?;
    let holder = RoleOwner::find(&mut writing, login.tenant_limit(), owner).await?;
    let StoredEntry { name, holder, meta, generation } = R::create(writing, holder, new).await?;
    Ok(ApiResponse::created(R::render(&holder, &name, meta)).version(generation))
}

pub(crate) async fn update<R: NamedRecord>(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    name: &str,
    condition: &IfMatch,
    document: &Document,
) -> ApiResult<ApiResponse<R::View>> {
    let update: R::Update = document.request()?;
    let mut writing = app.change(login).await?;
    let holder = RoleOwner::find(&mut writing, login.tenant_limit(), owner).await?;
    let StoredEntry { name, holder, meta, generation } =
        R::update(writing, holder, name, condition, update).await?;
    Ok(ApiResponse::ok(R::render(&holder, &name, meta)).version(generation))
}

pub(crate) async fn delete<R: NamedRecord>(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    name: &str,
    condition: &IfMatch,
) -> ApiResult<()> {
    let mut writing = app.change(login).await?;
    let holder = RoleOwner::find(&mut writing, login.tenant_limit(), owner).await?;
    Ok(R::delete(writing, holder, name, condition).await?)
}

/// Declares the operations on named records of an owner (roles, tags). Only nouns and paths differ; the
/// behaviour is that of the [`NamedRecord`].
macro_rules! named_operations {
    (
        $module:ident, $kind:expr, $noun:literal, $collection:tt, $member:tt, $list_summary:tt,
        $record:ty, $view:ty, $new:ty, $body:ty
    ) => {
        mod $module {
            use axum::extract::State;
            use stoker_model::{OwnerKind, Permission};
            use utoipa_axum::routes;

            use crate::api::named;
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
                named::list::<$record>(&app, &login, path.owner($kind)?).await
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
                named::create::<$record>(&app, &login, path.owner($kind)?, &document).await
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
                named::show::<$record>(&app, &login, path.owner($kind)?, path.text("name")).await
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
                named::update::<$record>(&app, &login, owner, name, &condition, &document).await
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
                named::delete::<$record>(&app, &login, owner, name, &condition).await?;
                Ok(NoContent)
            }
        }
    };
}

pub(crate) use named_operations;
