//! Parts of a release with their own paths: settings and networks.

use axum::extract::State;
use stoker_manifest::reader::json_map;
use stoker_model::{Json, JsonMap};

use super::view::Attributes;
use super::{change, find};
use crate::access::caller::Authenticated;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
use crate::state::App;

/// Retrieve the settings of a release
///
/// Adds an empty list of repositories if the release has none.
#[utoipa::path(
    get, path = "/api/v1/releases/{id}/attributes_metadata", params(("id" = i64, Path)),
    responses((status = 200, body = Attributes))
)]
pub(super) async fn release_attributes_show(
    State(app): State<App>,
    path: PathParams,
) -> ApiResult<ApiResponse<Attributes>> {
    let release = find(&mut app.store.read().await?, &path).await?;
    let attributes = Attributes::of(&release.body.attributes_metadata).with_repositories();
    Ok(ApiResponse::ok(attributes).version(release.generation))
}

/// Replace the settings of a release
///
/// Both `editable` and `generated` are required.
#[utoipa::path(
    put, path = "/api/v1/releases/{id}/attributes_metadata", params(("id" = i64, Path)), request_body = Attributes,
    responses((status = 200, body = Attributes))
)]
pub(super) async fn release_attributes_update(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<ApiResponse<Attributes>> {
    let (editable, generated) = document.fields(|fields| {
        let editable = fields.required("editable", json_map);
        let generated = fields.required("generated", json_map);
        Some((editable?, generated?))
    })?;
    let mut writing = app.change(&login).await?;
    let mut release = find(&mut writing, &path).await?;
    condition.check(release.generation)?;
    let attributes = &mut release.body.attributes_metadata;
    attributes.insert("editable".to_owned(), Json::Object(editable));
    attributes.insert("generated".to_owned(), Json::Object(generated));
    let release = writing.release_update(&release).await?;
    writing.commit(change("release.attributes.update", &release, &[])).await?;
    Ok(ApiResponse::ok(Attributes::of(&release.body.attributes_metadata)).version(release.generation))
}

/// Retrieve the networks of a release
#[utoipa::path(
    get, path = "/api/v1/releases/{id}/networks", params(("id" = i64, Path)),
    responses((status = 200, body = Object))
)]
pub(super) async fn release_networks_show(
    State(app): State<App>,
    path: PathParams,
) -> ApiResult<ApiResponse<JsonMap>> {
    let release = find(&mut app.store.read().await?, &path).await?;
    Ok(ApiResponse::ok(release.body.networks_metadata).version(release.generation))
}

/// Replace the networks of a release
#[utoipa::path(
    put, path = "/api/v1/releases/{id}/networks", params(("id" = i64, Path)), request_body = Object,
    responses((status = 200, body = Object))
)]
pub(super) async fn release_networks_update(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<ApiResponse<JsonMap>> {
    let networks = document.read(json_map)?;
    let mut writing = app.change(&login).await?;
    let mut release = find(&mut writing, &path).await?;
    condition.check(release.generation)?;
    release.body.networks_metadata = networks;
    let release = writing.release_update(&release).await?;
    writing.commit(change("release.networks.update", &release, &[])).await?;
    Ok(ApiResponse::ok(release.body.networks_metadata).version(release.generation))
}
