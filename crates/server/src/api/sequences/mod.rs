//! Sequences: graph types of a release that run one after another.

mod view;

use axum::extract::State;
use serde_json::json;
use stoker_api_types::Request as _;
use stoker_api_types::sequences::{NewSequenceBody, SequenceBody, SequenceView};
use stoker_manifest::reader::identifier;
use stoker_model::{AuditChange, ClusterId, NewSequence, Permission, ReleaseId, Sequence, SequenceId};
use stoker_store::{SequenceFilter, Session, StoreError};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::view::render_sequence;
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
    Routes::new("sequences")
        .add(Permission::Read, routes!(sequence_list))
        .add(Permission::Operate, routes!(sequence_create))
        .add(Permission::Read, routes!(sequence_show))
        .add(Permission::Operate, routes!(sequence_update, sequence_patch))
        .add(Permission::Operate, routes!(sequence_delete))
        .finish()
}

/// List sequences
#[utoipa::path(
    get, path = "/api/v1/sequences",
    params(
        Paging,
        ("release" = Option<u64>, Query, description = "Filter by release"),
        ("cluster" = Option<u64>, Query, description = "Filter by the release of this cluster"),
    ),
    responses(
        (status = 200, body = [SequenceView]),
        (status = 404, body = stoker_api_types::error::Envelope, description = "The release or the cluster does not exist"),
    )
)]
async fn sequence_list(
    State(app): State<App>,
    login: Authenticated,
    mut query: Query,
) -> ApiResult<ApiResponse<Vec<SequenceView>>> {
    let list = list(&mut query);
    let release = query.natural("release").map(|id| ReleaseId(id as i64));
    let cluster = query.natural("cluster").map(|id| ClusterId(id as i64));
    query.finish()?;
    let mut session = app.store.snapshot().await?;
    let release_id = requested_release(&mut session, &login, release, cluster).await?;
    let page = session.sequence_list(&SequenceFilter { release_id }, &list).await?;
    ApiResponse::page(&list, page, render_sequence)
}

/// Returns the release that the query names, directly or by one of its clusters.
async fn requested_release(
    session: &mut Session,
    login: &Authenticated,
    release: Option<ReleaseId>,
    cluster: Option<ClusterId>,
) -> ApiResult<Option<ReleaseId>> {
    if let Some(id) = release {
        require_release(session, id).await?;
    }
    let Some(id) = cluster else { return Ok(release) };
    let cluster = session.cluster_get(id).await?.filter(|cluster| login.may_see(cluster.tenant_id));
    let cluster = cluster.ok_or_else(|| ApiError::not_found("Cluster"))?;
    match release {
        Some(release) if release != cluster.release_id => Err(ApiError::bad_request(format!(
            "cluster {id} belongs to release {}, not to release {release}; specify only one of them",
            cluster.release_id
        ))),
        _ => Ok(Some(cluster.release_id)),
    }
}

/// Create a sequence
#[utoipa::path(
    post, path = "/api/v1/sequences", request_body = NewSequenceBody,
    responses(
        (status = 201, body = SequenceView),
        (status = 404, body = stoker_api_types::error::Envelope, description = "The release does not exist"),
    )
)]
async fn sequence_create(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<ApiResponse<SequenceView>> {
    let NewSequenceBody { release, name, graphs } = document.request()?;
    let new = NewSequence { release_id: ReleaseId(release), name, graphs };
    let mut writing = app.change(&login).await?;
    require_release(&mut writing, new.release_id).await?;
    let created = writing.sequence_create(&new).await;
    let sequence = created.map_err(|error| duplicate_error(error, &new.name, new.release_id))?;
    writing.commit(change("sequence.create", &sequence)).await?;
    Ok(answer(sequence, ApiResponse::created))
}

/// Retrieve a sequence
#[utoipa::path(
    get, path = "/api/v1/sequences/{id}", params(("id" = i64, Path)),
    responses((status = 200, body = SequenceView))
)]
async fn sequence_show(State(app): State<App>, path: PathParams) -> ApiResult<ApiResponse<SequenceView>> {
    let sequence = find(&mut app.store.read().await?, &path).await?;
    Ok(answer(sequence, ApiResponse::ok))
}

/// Update a sequence
///
/// Omitted fields are unchanged.
#[utoipa::path(
    put, path = "/api/v1/sequences/{id}", params(("id" = i64, Path)), request_body = SequenceBody,
    responses((status = 200, body = SequenceView))
)]
async fn sequence_update(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<ApiResponse<SequenceView>> {
    let (release, name, graphs) = document.fields(|fields| {
        let release = fields.optional("release", identifier).map(ReleaseId);
        let SequenceBody { name, graphs } = SequenceBody::read(fields)?;
        Some((release, name, graphs))
    })?;
    let mut writing = app.change(&login).await?;
    let mut sequence = find(&mut writing, &path).await?;
    condition.check(sequence.generation)?;
    document.check_read_only(SequenceBody::READ_ONLY, &render_sequence(sequence.clone()))?;
    if release.is_some_and(|release| release != sequence.release_id) {
        let message = format!(
            "cannot change the release of the sequence: it belongs to release {}",
            sequence.release_id
        );
        return Err(ApiError::bad_request(message));
    }
    sequence.name = name.unwrap_or(sequence.name);
    sequence.graphs = graphs.unwrap_or(sequence.graphs);
    let updated = writing.sequence_update(&sequence).await;
    let sequence = updated.map_err(|error| duplicate_error(error, &sequence.name, sequence.release_id))?;
    writing.commit(change("sequence.update", &sequence)).await?;
    Ok(answer(sequence, ApiResponse::ok))
}

patch_as_put!(
    sequence_patch = sequence_update,
    "/api/v1/sequences/{id}",
    "Update a sequence",
    SequenceBody => SequenceView
);

/// Delete a sequence
///
/// The graphs of the sequence are not deleted.
#[utoipa::path(delete, path = "/api/v1/sequences/{id}", params(("id" = i64, Path)), responses((status = 204)))]
async fn sequence_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
) -> ApiResult<NoContent> {
    let mut writing = app.change(&login).await?;
    let sequence = find(&mut writing, &path).await?;
    condition.check(sequence.generation)?;
    writing.sequence_delete(sequence.id).await?;
    writing.commit(change("sequence.delete", &sequence)).await?;
    Ok(NoContent)
}

async fn find(session: &mut Session, path: &PathParams) -> ApiResult<Sequence> {
    let id = path.id("id", SequenceId, CLASS)?;
    session.sequence_get(id).await?.ok_or_else(|| ApiError::not_found(CLASS))
}

/// Resource name in "not found" messages, in the style of `DeploymentGraph`.
const CLASS: &str = "DeploymentSequence";

async fn require_release(session: &mut Session, id: ReleaseId) -> ApiResult<()> {
    session.release_get(id).await?.map(drop).ok_or_else(|| ApiError::not_found("Release"))
}

fn answer(
    sequence: Sequence,
    make: fn(SequenceView) -> ApiResponse<SequenceView>,
) -> ApiResponse<SequenceView> {
    let generation = sequence.generation;
    make(render_sequence(sequence)).version(generation)
}

fn change(action: &'static str, sequence: &Sequence) -> AuditChange {
    let types: Vec<&str> = sequence.graphs.iter().map(|graph| graph.graph_type.as_str()).collect();
    let detail = json!({"name": sequence.name, "release": sequence.release_id.0, "graphs": types});
    AuditChange { action, target: format!("sequence {}", sequence.id), detail }
}

fn duplicate_error(error: StoreError, name: &str, release_id: ReleaseId) -> ApiError {
    match error {
        StoreError::AlreadyExists { .. } => ApiError::conflict(format!(
            "Sequence with name \"{name}\" already exist for release {release_id}."
        )),
        error => error.into(),
    }
}
