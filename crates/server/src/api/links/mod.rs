//! Dashboard links: to pages that plugins provide, for one cluster or for all clusters with the plugin.

mod view;

use serde_json::json;
use stoker_api_types::Request as _;
use stoker_api_types::links::{LinkChangeBody, LinkView};
use stoker_model::{AuditChange, ClusterId, Link, LinkId, LinkOwner, Permission, PluginId};
use stoker_store::{Session, StoreError};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::view::{apply, new_link, render_link};
use crate::access::caller::Authenticated;
use crate::api::clusters::access::require_cluster;
use crate::api::routes::Routes;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::list::{Paging, list};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    plugin::add(cluster::add(Routes::new("links"))).finish()
}

async fn list_links(
    app: &App,
    login: &Authenticated,
    owner: LinkOwner,
    mut query: Query,
) -> ApiResult<ApiResponse<Vec<LinkView>>> {
    let paging = list(&mut query);
    query.finish()?;
    let mut session = app.store.snapshot().await?;
    require_owner(&mut session, login, owner).await?;
    let page = session.link_list(owner, &paging).await?;
    ApiResponse::page(&paging, page, render_link)
}

async fn create(
    app: &App,
    login: &Authenticated,
    owner: LinkOwner,
    document: Document,
) -> ApiResult<ApiResponse<LinkView>> {
    let body = new_link(document.request()?);
    let mut writing = app.change(login).await?;
    require_owner(&mut writing, login, owner).await?;
    let created = writing.link_create(owner, &body).await;
    let link = created.map_err(|error| url_conflict(error, &body.url))?;
    writing.commit(change("link.create", &link)).await?;
    Ok(answer(link, ApiResponse::created))
}

async fn update(
    app: &App,
    login: &Authenticated,
    owner: LinkOwner,
    path: &PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<ApiResponse<LinkView>> {
    let changes = document.request()?;
    let mut writing = app.change(login).await?;
    let mut link = find(&mut writing, login, owner, path).await?;
    condition.check(link.generation)?;
    document.check_read_only(LinkChangeBody::READ_ONLY, &render_link(link.clone()))?;
    apply(changes, &mut link.body);
    let updated = writing.link_update(&link).await;
    let link = updated.map_err(|error| url_conflict(error, &link.body.url))?;
    writing.commit(change("link.update", &link)).await?;
    Ok(answer(link, ApiResponse::ok))
}

async fn delete(
    app: &App,
    login: &Authenticated,
    owner: LinkOwner,
    path: &PathParams,
    condition: IfMatch,
) -> ApiResult<()> {
    let mut writing = app.change(login).await?;
    let link = find(&mut writing, login, owner, path).await?;
    condition.check(link.generation)?;
    writing.link_delete(link.id).await?;
    writing.commit(change("link.delete", &link)).await?;
    Ok(())
}

/// Returns the link of the path, or a 404 error if it belongs to another owner.
async fn find(
    session: &mut Session,
    login: &Authenticated,
    owner: LinkOwner,
    path: &PathParams,
) -> ApiResult<Link> {
    require_owner(session, login, owner).await?;
    let link = session.link_get(path.id("link", LinkId, CLASS)?).await?;
    link.filter(|link| link.owner == owner).ok_or_else(|| ApiError::not_found(CLASS))
}

const CLASS: &str = "PluginLink";

async fn require_owner(session: &mut Session, login: &Authenticated, owner: LinkOwner) -> ApiResult<()> {
    match owner {
        LinkOwner::Cluster(id) => require_cluster(session, login, id).await.map(drop),
        LinkOwner::Plugin(id) => {
            session.plugin_get(id).await?.map(drop).ok_or_else(|| ApiError::not_found("Plugin"))
        }
    }
}

fn cluster_owner(path: &PathParams) -> ApiResult<LinkOwner> {
    path.id("id", |id| LinkOwner::Cluster(ClusterId(id)), "Cluster")
}

fn plugin_owner(path: &PathParams) -> ApiResult<LinkOwner> {
    path.id("id", |id| LinkOwner::Plugin(PluginId(id)), "Plugin")
}

fn answer(link: Link, make: fn(LinkView) -> ApiResponse<LinkView>) -> ApiResponse<LinkView> {
    let generation = link.generation;
    make(render_link(link)).version(generation)
}

fn change(action: &'static str, link: &Link) -> AuditChange {
    let owner = match link.owner {
        LinkOwner::Cluster(id) => json!({"cluster": id.0}),
        LinkOwner::Plugin(id) => json!({"plugin": id.0}),
    };
    let detail = json!({"title": link.body.title, "url": link.body.url, "owner": owner});
    AuditChange { action, target: format!("link {}", link.id), detail }
}

fn url_conflict(error: StoreError, url: &str) -> ApiError {
    match error {
        StoreError::AlreadyExists { .. } => ApiError::conflict(format!("a link to {url} already exists")),
        error => error.into(),
    }
}

/// Defines the operations for one kind of owner, which differ only in their paths.
macro_rules! operations_of {
    ($module:ident, $owner:path, $collection:tt, $member:tt) => {
        mod $module {
            use axum::extract::State;

            use stoker_api_types::links::{LinkChangeBody, NewLinkBody};
            use super::*;
            use crate::http::response::NoContent;

            pub(super) fn add(routes: Routes) -> Routes {
                routes
                    .add(Permission::Read, routes!(link_list))
                    .add(Permission::Operate, routes!(link_create))
                    .add(Permission::Read, routes!(link_show))
                    .add(Permission::Operate, routes!(link_update, link_patch))
                    .add(Permission::Operate, routes!(link_delete))
            }

            /// List links
            #[utoipa::path(
                get, path = $collection, operation_id = concat!(stringify!($module), "_link_list"),
                params(("id" = i64, Path), Paging), responses((status = 200, body = [LinkView]))
            )]
            async fn link_list(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
                query: Query,
            ) -> ApiResult<ApiResponse<Vec<LinkView>>> {
                list_links(&app, &login, $owner(&path)?, query).await
            }

            /// Create a link
            #[utoipa::path(
                post, path = $collection, operation_id = concat!(stringify!($module), "_link_create"),
                params(("id" = i64, Path)), request_body = NewLinkBody, responses((status = 201, body = LinkView))
            )]
            async fn link_create(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
                document: Document,
            ) -> ApiResult<ApiResponse<LinkView>> {
                create(&app, &login, $owner(&path)?, document).await
            }

            /// Retrieve a link
            #[utoipa::path(
                get, path = $member, operation_id = concat!(stringify!($module), "_link_show"),
                params(("id" = i64, Path), ("link" = i64, Path)), responses((status = 200, body = LinkView))
            )]
            async fn link_show(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
            ) -> ApiResult<ApiResponse<LinkView>> {
                let mut session = app.store.snapshot().await?;
                let link = find(&mut session, &login, $owner(&path)?, &path).await?;
                Ok(answer(link, ApiResponse::ok))
            }

            /// Update a link
            ///
            /// Omitted fields are unchanged.
            #[utoipa::path(
                put, path = $member, operation_id = concat!(stringify!($module), "_link_update"),
                params(("id" = i64, Path), ("link" = i64, Path)), request_body = LinkChangeBody,
                responses((status = 200, body = LinkView))
            )]
            async fn link_update(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
                condition: IfMatch,
                document: Document,
            ) -> ApiResult<ApiResponse<LinkView>> {
                update(&app, &login, $owner(&path)?, &path, condition, document).await
            }

            /// Update a link
            ///
            /// Same as `PUT`.
            #[utoipa::path(
                patch, path = $member, operation_id = concat!(stringify!($module), "_link_patch"),
                params(("id" = i64, Path), ("link" = i64, Path)), request_body = LinkChangeBody,
                responses((status = 200, body = LinkView))
            )]
            async fn link_patch(
                app: State<App>,
                login: Authenticated,
                path: PathParams,
                condition: IfMatch,
                document: Document,
            ) -> ApiResult<ApiResponse<LinkView>> {
                link_update(app, login, path, condition, document).await
            }

            /// Delete a link
            #[utoipa::path(
                delete, path = $member, operation_id = concat!(stringify!($module), "_link_delete"),
                params(("id" = i64, Path), ("link" = i64, Path)), responses((status = 204))
            )]
            async fn link_delete(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
                condition: IfMatch,
            ) -> ApiResult<NoContent> {
                delete(&app, &login, $owner(&path)?, &path, condition).await?;
                Ok(NoContent)
            }
        }
    };
}

operations_of!(
    cluster,
    cluster_owner,
    "/api/v1/clusters/{id}/plugin_links",
    "/api/v1/clusters/{id}/plugin_links/{link}"
);
operations_of!(plugin, plugin_owner, "/api/v1/plugins/{id}/links", "/api/v1/plugins/{id}/links/{link}");
