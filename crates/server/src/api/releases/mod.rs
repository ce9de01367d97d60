//! Releases: versions of a product from which clusters are created.

mod body;
mod order;
mod sections;
mod view;

use axum::extract::State;
use serde_json::json;
use stoker_api_types::Request as _;
use stoker_api_types::releases::{ReleaseBody, ReleaseView};
use stoker_model::{JsonMap, Permission, Release, ReleaseId};
use stoker_services::releases;
use stoker_store::{List, Session};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::view::{answer, show};
use crate::access::caller::Authenticated;
use crate::api::patch::patch_as_put;
use crate::api::routes::Routes;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::list::{Paging, list};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::{ApiResponse, NoContent};
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("releases")
        .add(Permission::Read, routes!(release_list))
        .add(Permission::Operate, routes!(release_create))
        .add(Permission::Read, routes!(release_show))
        .add(Permission::Operate, routes!(release_update, release_patch))
        .add(Permission::Operate, routes!(release_delete))
        .add(Permission::Read, routes!(sections::release_attributes_show))
        .add(Permission::Operate, routes!(sections::release_attributes_update))
        .add(Permission::Read, routes!(sections::release_networks_show))
        .add(Permission::Operate, routes!(sections::release_networks_update))
        .finish()
}

/// List releases
///
/// The default order is by version, newest first: the part after the last `-` is compared before the part in
/// front of it, numbers are compared numerically, and equal versions are sorted by ID. `order_by=version`
/// compares in the same way.
#[utoipa::path(get, path = "/api/v1/releases", params(Paging), responses((status = 200, body = [ReleaseView])))]
async fn release_list(State(app): State<App>, mut query: Query) -> ApiResult<ApiResponse<Vec<JsonMap>>> {
    let list = list(&mut query);
    query.finish()?;
    let releases = app.store.read().await?.release_list(&List::default()).await?.items;
    ApiResponse::page(&list, order::page(releases, &list)?, show)
}

/// Create a release
///
/// Creates the release and its graphs; an empty graph of type `default` is added if there is none. Binds and restrictions of
/// the wizard that have no effect are reported in `warnings`.
#[utoipa::path(
    post, path = "/api/v1/releases", request_body = ReleaseBody,
    responses((status = 201, body = ReleaseView))
)]
async fn release_create(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<ApiResponse<JsonMap>> {
    let (new, graphs, warnings) = body::read_new(&document)?;
    document.check_read_only(&["is_deployable"], &json!({"is_deployable": new.is_deployable()}))?;
    let release = releases::release_create(app.change(&login).await?, &new, graphs).await?;
    Ok(answer(release, warnings, ApiResponse::created))
}

/// Retrieve a release
#[utoipa::path(
    get, path = "/api/v1/releases/{id}", params(("id" = i64, Path)),
    responses((status = 200, body = ReleaseView))
)]
async fn release_show(State(app): State<App>, path: PathParams) -> ApiResult<ApiResponse<JsonMap>> {
    let release = find(&mut app.store.read().await?, &path).await?;
    Ok(answer(release, Vec::new(), ApiResponse::ok))
}

/// Update a release
///
/// Omitted fields are unchanged. Graphs are updated as by `deployment_graphs/{type}`. Fails if it removes a
/// role that nodes have. Warnings are as in `POST`.
#[utoipa::path(
    put, path = "/api/v1/releases/{id}", params(("id" = i64, Path)), request_body = ReleaseBody,
    responses((status = 200, body = ReleaseView))
)]
async fn release_update(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<ApiResponse<JsonMap>> {
    let (update, warnings) = document.request_with_warnings::<ReleaseBody>()?;
    let mut writing = app.change(&login).await?;
    let release = find(&mut writing, &path).await?;
    document.check_read_only(ReleaseBody::READ_ONLY, &show(release.clone()))?;
    let release = releases::release_update(writing, release, &condition, update).await?;
    Ok(answer(release, warnings, ApiResponse::ok))
}

patch_as_put!(
    release_patch = release_update,
    "/api/v1/releases/{id}",
    "Update a release",
    ReleaseBody => ReleaseView
);

/// Delete a release
///
/// Deletes the release with its graphs and sequences. Fails if the release has clusters.
#[utoipa::path(delete, path = "/api/v1/releases/{id}", params(("id" = i64, Path)), responses((status = 204)))]
async fn release_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
) -> ApiResult<NoContent> {
    let mut writing = app.change(&login).await?;
    let release = find(&mut writing, &path).await?;
    releases::release_delete(writing, &release, &condition).await?;
    Ok(NoContent)
}

pub(in crate::api) async fn find(session: &mut Session, path: &PathParams) -> ApiResult<Release> {
    let id = path.id("id", ReleaseId, "Release")?;
    session.release_get(id).await?.ok_or_else(|| ApiError::not_found("Release"))
}
