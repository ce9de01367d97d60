//! Releases: versions of a product from which clusters are created.

mod body;
mod order;
mod sections;
mod view;

use axum::extract::State;
use serde_json::json;
use stoker_model::{
    AuditChange, ClusterId, JsonMap, NewPlugin, NewRelease, Owner, Permission, Release, ReleaseId,
};
use stoker_services::metadata::holder::{clusters_of_release, require_unused};
use stoker_services::plugins::conflicts::{Pairing, require_no_conflicts, validate_release};
use stoker_store::{List, Session, StoreError, WriteTransaction};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::body::{ReleaseBody, ReleaseUpdate};
use self::view::{ReleaseView, answer, show};
use crate::access::caller::Authenticated;
use crate::api::routes::Routes;
use crate::http::response::{ApiResponse, NoContent};
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::list::{Paging, list};
use crate::http::path::PathParams;
use crate::http::query::Query;
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
/// Creates the release and its graphs; an empty graph of type `default` is added if there is none.
#[utoipa::path(
    post, path = "/api/v1/releases", request_body = ReleaseBody,
    responses((status = 201, body = ReleaseView))
)]
async fn release_create(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<ApiResponse<JsonMap>> {
    let (new, graphs) = body::read_new(&document)?;
    let mut writing = app.change(&login).await?;
    validate(&mut writing, None, &new).await?;
    let release = writing.release_create(&new).await.map_err(duplicate_error)?;
    let types = graphs.types();
    graphs.create(&mut writing, Owner::Release(release.id)).await?;
    writing.commit(change("release.create", &release, &types)).await?;
    Ok(answer(release, ApiResponse::created))
}

/// Retrieve a release
#[utoipa::path(
    get, path = "/api/v1/releases/{id}", params(("id" = i64, Path)),
    responses((status = 200, body = ReleaseView))
)]
async fn release_show(State(app): State<App>, path: PathParams) -> ApiResult<ApiResponse<JsonMap>> {
    let release = find(&mut app.store.read().await?, &path).await?;
    Ok(answer(release, ApiResponse::ok))
}

/// Update a release
///
/// Omitted fields are unchanged. Graphs are updated as by `deployment_graphs/{type}`. Fails if it removes a
/// role that nodes have.
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
    let update = body::read_change(&document)?;
    let mut writing = app.change(&login).await?;
    let mut release = find(&mut writing, &path).await?;
    condition.check(release.generation)?;
    require_roles(&mut writing, &release, &update).await?;
    let before = release.body.clone();
    let graphs = update.apply(&mut release.body);
    validate(&mut writing, Some(&before), &release.body).await?;
    let release = writing.release_update(&release).await.map_err(duplicate_error)?;
    let types = graphs.types();
    graphs.apply(&mut writing, Owner::Release(release.id)).await?;
    writing.commit(change("release.update", &release, &types)).await?;
    Ok(answer(release, ApiResponse::ok))
}

/// Update a release
///
/// Same as `PUT`.
#[utoipa::path(
    patch, path = "/api/v1/releases/{id}", params(("id" = i64, Path)), request_body = ReleaseBody,
    responses((status = 200, body = ReleaseView))
)]
async fn release_patch(
    app: State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<ApiResponse<JsonMap>> {
    release_update(app, login, path, condition, document).await
}

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
    condition.check(release.generation)?;
    writing.release_delete(release.id).await.map_err(|error| match error {
        StoreError::Referenced { .. } => ApiError::bad_request("Can't delete release with clusters assigned"),
        error => error.into(),
    })?;
    writing.commit(change("release.delete", &release, &[])).await?;
    Ok(NoContent)
}

/// Validates a release by itself and against the installed plugins. Problems that existed before are ignored.
async fn validate(session: &mut Session, before: Option<&NewRelease>, release: &NewRelease) -> ApiResult<()> {
    let is_same = before.is_some_and(|before| {
        before.components_metadata == release.components_metadata
            && before.wizard_metadata == release.wizard_metadata
    });
    if is_same {
        return Ok(());
    }
    validate_release(release)?;
    let plugins = session.plugin_list(&List::default()).await?.items;
    let plugins: Vec<&NewPlugin> = plugins.iter().map(|plugin| &plugin.body).collect();
    let before = before.map(|before| (before, &plugins[..]));
    Ok(require_no_conflicts(std::iter::once(Pairing { before, after: (release, &plugins) }))?)
}

/// Rejects the removal of roles that nodes have.
async fn require_roles(writing: &mut WriteTransaction, release: &Release, update: &ReleaseUpdate) -> ApiResult<()> {
    let Some(new) = &update.roles_metadata else { return Ok(()) };
    let old = release.body.roles_metadata.keys().map(String::as_str);
    let removed_roles: Vec<&str> = old.filter(|role| !new.contains_key(*role)).collect();
    let clusters = clusters_of_release(writing, release.id).await?;
    let clusters: Vec<ClusterId> = clusters.iter().map(|cluster| cluster.id).collect();
    Ok(require_unused(writing, &clusters, &removed_roles).await?)
}

pub(in crate::api) async fn find(session: &mut Session, path: &PathParams) -> ApiResult<Release> {
    let id = path.id("id", ReleaseId, "Release")?;
    session.release_get(id).await?.ok_or_else(|| ApiError::not_found("Release"))
}

fn change(action: &'static str, release: &Release, graph_types: &[String]) -> AuditChange {
    let body = &release.body;
    let detail = json!({"name": body.name, "version": body.version, "graphs": graph_types});
    AuditChange { action, target: format!("release {}", release.id), detail }
}

fn duplicate_error(error: StoreError) -> ApiError {
    match error {
        StoreError::AlreadyExists { .. } => {
            ApiError::conflict("Release with the same name and version already exists")
        }
        error => error.into(),
    }
}
