//! Extension names of a cluster, for compatibility: releases declare them and clients list them. This server
//! implements no extensions.

use axum::extract::State;
use stoker_manifest::reader::{list_of, string_with_length};
use stoker_model::Cluster;
use stoker_store::{Session, WriteTransaction};

use super::access::cluster_of;
use super::create::describe;
use crate::access::caller::Authenticated;
use crate::http::response::{ApiResponse, NoContent};
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

/// List the extensions of a cluster
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/extensions", params(("id" = i64, Path)),
    responses((status = 200, body = [String]))
)]
pub(super) async fn cluster_extension_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<Vec<String>>> {
    let mut session = app.store.snapshot().await?;
    Ok(answer(cluster_of(&mut session, &login, &path).await?))
}

/// Add extensions to a cluster
///
/// The extensions must be declared by the release of the cluster.
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/extensions", params(("id" = i64, Path)), request_body = [String],
    responses((status = 200, body = [String]))
)]
pub(super) async fn cluster_extension_add(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<ApiResponse<Vec<String>>> {
    let names = document.read(list_of(string_with_length(1..=255)))?;
    let mut writing = app.change(&login).await?;
    let mut cluster = cluster_of(&mut writing, &login, &path).await?;
    condition.check(cluster.generation)?;
    require_known(&mut writing, &cluster, &names).await?;
    for name in names {
        if !cluster.extensions.contains(&name) {
            cluster.extensions.push(name);
        }
    }
    Ok(answer(store(writing, &cluster).await?))
}

/// Remove extensions from a cluster
#[utoipa::path(
    delete, path = "/api/v1/clusters/{id}/extensions",
    params(("id" = i64, Path), ("extension_names" = String, Query, description = "Names of the extensions to remove, comma-separated")),
    responses((status = 204))
)]
pub(super) async fn cluster_extension_remove(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    query: Query,
) -> ApiResult<NoContent> {
    let names = query.list("extension_names");
    let names = names.ok_or_else(|| {
        ApiError::bad_request("missing `extension_names`: names of the extensions to remove, comma-separated")
    })?;
    let mut writing = app.change(&login).await?;
    let mut cluster = cluster_of(&mut writing, &login, &path).await?;
    condition.check(cluster.generation)?;
    let unknown: Vec<&str> =
        names.iter().filter(|name| !cluster.extensions.contains(name)).map(String::as_str).collect();
    if !unknown.is_empty() {
        return Err(ApiError::bad_request(format!("No such extensions to remove: {}", unknown.join(", "))));
    }
    cluster.extensions.retain(|name| !names.contains(name));
    store(writing, &cluster).await?;
    Ok(NoContent)
}

/// Rejects names that the release does not declare.
async fn require_known(session: &mut Session, cluster: &Cluster, names: &[String]) -> ApiResult<()> {
    let release = session.release_get(cluster.release_id).await?;
    let offered = release.map(|release| release.body.extensions).unwrap_or_default();
    let is_unknown = |name: &&String| !offered.contains(name) && !cluster.extensions.contains(name);
    let unknown: Vec<&str> = names.iter().filter(is_unknown).map(String::as_str).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let known = if offered.is_empty() { "none".to_owned() } else { offered.join(", ") };
    let message = format!("No such extensions: {}; the release declares: {known}", unknown.join(", "));
    Err(ApiError::bad_request(message))
}

async fn store(mut writing: WriteTransaction, cluster: &Cluster) -> ApiResult<Cluster> {
    let cluster = writing.cluster_update(cluster).await?;
    writing.commit(describe("cluster.extensions", &cluster)).await?;
    Ok(cluster)
}

fn answer(cluster: Cluster) -> ApiResponse<Vec<String>> {
    ApiResponse::ok(cluster.extensions).version(cluster.generation)
}
