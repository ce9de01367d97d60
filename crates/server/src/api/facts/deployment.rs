//! Facts of a deployment: a list of documents, one for each node.

use std::collections::HashMap;

use axum::extract::State;
use stoker_manifest::reader::list_of;
use stoker_model::{Cluster, FactsKind, JsonMap, Node};
use stoker_store::Session;

use super::compute;
use super::store::{COMMON, describe, forget, keep, nodes, read_document, selection, supplied};
use crate::access::caller::Authenticated;
use crate::api::clusters::access::cluster_of;
use crate::http::answer::Answer;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::json::merged;
use crate::state::App;

const KIND: FactsKind = FactsKind::Deployment;

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
    let documents = documents(&mut session, &cluster, &nodes, true).await?;
    Ok(Answer::ok(documents.list(split)).version(cluster.generation))
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
    let documents = documents(&mut session, &cluster, &nodes, false).await?;
    Ok(Answer::ok(documents.list(split)).version(cluster.generation))
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

/// The documents of the nodes, and what stands beneath all of them.
struct Documents {
    common: JsonMap,
    /// Each with whether it is whole without the common part.
    nodes: Vec<(JsonMap, bool)>,
}

impl Documents {
    fn list(self, split: bool) -> Vec<JsonMap> {
        if split {
            return std::iter::once(self.common)
                .chain(self.nodes.into_iter().map(|(document, _)| document))
                .collect();
        }
        let whole = |(document, is_whole)| if is_whole { document } else { merged(&self.common, document) };
        self.nodes.into_iter().map(whole).collect()
    }
}

async fn documents(
    session: &mut Session,
    cluster: &Cluster,
    nodes: &[Node],
    with_supplied: bool,
) -> ApiResult<Documents> {
    let release =
        session.release_get(cluster.release_id).await?.ok_or_else(|| ApiError::not_found("Release"))?;
    let computed = compute::deployment(cluster, &release, nodes);
    let mut supplied = if with_supplied { supplied(session, cluster, KIND).await? } else { HashMap::new() };
    let supplied_common = supplied.remove(COMMON);
    // Whoever supplied no common part supplied whole documents.
    let is_whole = supplied_common.is_none();
    let documents = nodes.iter().zip(computed.nodes).map(|(node, computed)| {
        match supplied.remove(&node.id.to_string()) {
            Some(document) => (document, is_whole),
            None => (computed, false),
        }
    });
    Ok(Documents { common: supplied_common.unwrap_or(computed.common), nodes: documents.collect() })
}
