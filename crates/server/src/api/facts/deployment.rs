//! Facts of a deployment: a list of documents, one for each node.

use std::collections::HashSet;

use axum::extract::State;
use stoker_manifest::reader::list_of;
use stoker_model::{Cluster, FactsKind, JsonMap, Node, NodeId};
use stoker_state::{COMMON, Documents, Supplied};
use stoker_store::Session;
use stoker_services::planning::{Records, supplied};

use super::store::{describe, forget, keep, nodes, read_document, selection};
use crate::access::caller::Authenticated;
use crate::access::mask::mask_for;
use crate::api::clusters::access::cluster_of;
use crate::http::answer::Answer;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

const KIND: FactsKind = FactsKind::Deployment;
/// More is not what anybody reads.
const WHOLE_BYTES_MAX: usize = 256 << 20;

/// The facts that tasks work from, for each node
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/orchestrator/deployment",
    params(
        ("id" = i64, Path),
        ("nodes" = Option<String>, Query, description = "Of these nodes, comma-separated"),
        ("split" = Option<String>, Query, description = "1: what is common to all comes apart, under the uid `common`"),
    ),
    responses((status = 200, body = [Object]))
)]
pub(super) async fn deployment_facts_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<Answer<Vec<JsonMap>>> {
    let (wanted, split) = selection(query)?;
    let mut session = app.store.snapshot().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    let nodes = nodes(&mut session, &cluster, wanted).await?;
    let documents = documents(&app, &mut session, &cluster, &nodes, true).await?;
    let mut shown = list(documents, split)?;
    mask_for(&login, &mut shown);
    Ok(Answer::ok(shown).version(cluster.generation))
}

/// The same facts computed anew, whatever was supplied
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/orchestrator/deployment/defaults",
    params(
        ("id" = i64, Path),
        ("nodes" = Option<String>, Query, description = "Of these nodes, comma-separated"),
        ("split" = Option<String>, Query, description = "1: what is common to all comes apart, under the uid `common`"),
    ),
    responses((status = 200, body = [Object]))
)]
pub(super) async fn deployment_facts_show_defaults(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<Answer<Vec<JsonMap>>> {
    let (wanted, split) = selection(query)?;
    let mut session = app.store.snapshot().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    let nodes = nodes(&mut session, &cluster, wanted).await?;
    let documents = documents(&app, &mut session, &cluster, &nodes, false).await?;
    let mut shown = list(documents, split)?;
    mask_for(&login, &mut shown);
    Ok(Answer::ok(shown).version(cluster.generation))
}

/// Supply facts in place of the computed ones; those of nodes not named stay
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
) -> ApiResult<Answer<Vec<JsonMap>>> {
    let facts = document.read(list_of(read_document))?;
    let shown: Vec<JsonMap> = facts.iter().map(|(_, document)| document.clone()).collect();
    let mut writing = app.change(&login).await?;
    let mut cluster = cluster_of(&mut writing, &login, &path).await?;
    condition.check(cluster.generation)?;
    keep(&mut writing, &mut cluster, KIND, COMMON, facts).await?;
    writing.commit(describe("cluster.facts.update", &cluster, KIND)).await?;
    Ok(Answer::ok(shown).version(cluster.generation))
}

/// Forget supplied facts: computed ones count again
#[utoipa::path(
    delete, path = "/api/v1/clusters/{id}/orchestrator/deployment", params(("id" = i64, Path)),
    responses((status = 202, body = Object, description = "`{}`"))
)]
pub(super) async fn deployment_facts_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
) -> ApiResult<Answer<JsonMap>> {
    let mut writing = app.change(&login).await?;
    let mut cluster = cluster_of(&mut writing, &login, &path).await?;
    condition.check(cluster.generation)?;
    forget(&mut writing, &mut cluster, KIND).await?;
    writing.commit(describe("cluster.facts.delete", &cluster, KIND)).await?;
    Ok(Answer::accepted(JsonMap::new()))
}

async fn documents(
    app: &App,
    session: &mut Session,
    cluster: &Cluster,
    nodes: &[Node],
    with_supplied: bool,
) -> ApiResult<Documents> {
    let supplied = if with_supplied { supplied(session, cluster, KIND).await? } else { Supplied::new() };
    let mut state = Records::read(&app.services.graphs, session, cluster).await?.new_state();
    let wanted: HashSet<NodeId> = nodes.iter().map(|node| node.id).collect();
    state.nodes.retain(|node| wanted.contains(&node.id));
    Ok(state.with_supplied(supplied))
}

fn list(documents: Documents, split: bool) -> ApiResult<Vec<JsonMap>> {
    if split {
        return Ok(documents.apart());
    }
    let n_bytes = documents.whole_bytes();
    if n_bytes > WHOLE_BYTES_MAX {
        let message = format!(
            "the documents would have {} MiB, for each has what is common to all; add `split=1` to get that once, or \
             `nodes` to get some of them",
            n_bytes >> 20
        );
        return Err(ApiError::bad_request(message));
    }
    Ok(documents.whole())
}
