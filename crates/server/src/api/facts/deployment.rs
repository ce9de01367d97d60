//! Deployment facts: one document per node.

use std::collections::HashSet;

use axum::extract::State;
use stoker_manifest::reader::list_of;
use stoker_model::{Cluster, FactsKind, JsonMap, Node, NodeId};
use stoker_services::facts::{facts_delete, facts_update, nodes_of};
use stoker_services::planning::{Records, supplied};
use stoker_state::{COMMON_UID, EffectiveDocuments, SuppliedDocuments};
use stoker_store::Session;

use super::read::{NodeQuery, read_document, selection};
use crate::access::caller::Authenticated;
use crate::access::mask::mask_for;
use crate::api::clusters::access::cluster_of;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

const KIND: FactsKind = FactsKind::Deployment;
/// Maximum size of an unsplit response, in bytes; bounds the memory for a response that repeats the common
/// values for each node.
const UNSPLIT_BYTES_MAX: usize = 256 << 20;

/// Retrieve deployment facts
///
/// Returns the facts that tasks read, one document per node. Uploaded facts replace computed ones.
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/orchestrator/deployment",
    params(
        ("id" = i64, Path), NodeQuery,
        ("split" = Option<String>, Query, description = "`1` to return the values common to all nodes once, in a document with the UID `common`"),
    ),
    responses((status = 200, body = [Object]))
)]
pub(super) async fn deployment_facts_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<ApiResponse<Vec<JsonMap>>> {
    show(&app, &login, &path, query, true).await
}

/// Retrieve computed deployment facts
///
/// Ignores uploaded facts.
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/orchestrator/deployment/defaults",
    params(
        ("id" = i64, Path), NodeQuery,
        ("split" = Option<String>, Query, description = "`1` to return the values common to all nodes once, in a document with the UID `common`"),
    ),
    responses((status = 200, body = [Object]))
)]
pub(super) async fn deployment_facts_show_defaults(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<ApiResponse<Vec<JsonMap>>> {
    show(&app, &login, &path, query, false).await
}

/// Upload deployment facts
///
/// Uploaded facts replace the computed facts of their nodes. Facts of other nodes are unchanged.
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/orchestrator/deployment", params(("id" = i64, Path)), request_body = [Object],
    responses((status = 200, body = [Object]))
)]
pub(super) async fn deployment_facts_update(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<ApiResponse<Vec<JsonMap>>> {
    let facts = document.read(list_of(read_document))?;
    let uploaded: Vec<JsonMap> = facts.iter().map(|(_, document)| document.clone()).collect();
    let mut writing = app.change(&login).await?;
    let cluster = cluster_of(&mut writing, &login, &path).await?;
    let cluster = facts_update(writing, cluster, &condition, KIND, COMMON_UID, facts).await?;
    Ok(ApiResponse::ok(uploaded).version(cluster.generation))
}

/// Delete uploaded deployment facts
///
/// Restores the computed facts.
#[utoipa::path(
    delete, path = "/api/v1/clusters/{id}/orchestrator/deployment", params(("id" = i64, Path)),
    responses((status = 202, body = Object, description = "`{}`"))
)]
pub(super) async fn deployment_facts_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
) -> ApiResult<ApiResponse<JsonMap>> {
    let mut writing = app.change(&login).await?;
    let cluster = cluster_of(&mut writing, &login, &path).await?;
    facts_delete(writing, cluster, &condition, KIND).await?;
    Ok(ApiResponse::accepted(JsonMap::new()))
}

async fn show(
    app: &App,
    login: &Authenticated,
    path: &PathParams,
    query: Query,
    with_supplied: bool,
) -> ApiResult<ApiResponse<Vec<JsonMap>>> {
    let (node_ids, split) = selection(query)?;
    let mut session = app.store.snapshot().await?;
    let cluster = cluster_of(&mut session, login, path).await?;
    let nodes = nodes_of(&mut session, login.tenant_limit(), &cluster, node_ids.as_deref()).await?;
    let documents = documents(app, &mut session, &cluster, &nodes, with_supplied).await?;
    let mut facts = list(documents, split)?;
    mask_for(login, &mut facts);
    Ok(ApiResponse::ok(facts).version(cluster.generation))
}

async fn documents(
    app: &App,
    session: &mut Session,
    cluster: &Cluster,
    nodes: &[Node],
    with_supplied: bool,
) -> ApiResult<EffectiveDocuments> {
    let supplied =
        if with_supplied { supplied(session, cluster, KIND).await? } else { SuppliedDocuments::new() };
    let mut state = Records::read(&app.services.graphs, session, cluster).await?.new_state();
    let node_ids: HashSet<NodeId> = nodes.iter().map(|node| node.id).collect();
    state.nodes.retain(|node| node_ids.contains(&node.id));
    Ok(state.effective_documents(supplied))
}

fn list(documents: EffectiveDocuments, split: bool) -> ApiResult<Vec<JsonMap>> {
    if split {
        return Ok(documents.into_common_and_own());
    }
    let n_bytes = documents.complete_bytes();
    if n_bytes > UNSPLIT_BYTES_MAX {
        let message = format!(
            "the response would have {} MiB because each document repeats the common values; add `split=1` to get \
             them once, or select nodes with `nodes`",
            n_bytes >> 20
        );
        return Err(ApiError::bad_request(message));
    }
    Ok(documents.into_complete())
}
