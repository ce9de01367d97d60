//! Provisioning facts: the provisioning engine, and one document per node.

use axum::extract::State;
use serde::Serialize;
use stoker_manifest::reader::{json_map, list_of};
use stoker_model::{Cluster, FactsKind, JsonMap, Node};
use stoker_services::planning::supplied;
use stoker_store::Session;
use utoipa::ToSchema;

use super::compute;
use super::store::{ENGINE, delete_facts, describe, nodes, read_document, selection, store_facts};
use crate::access::caller::Authenticated;
use crate::access::mask::mask_for;
use crate::api::clusters::access::cluster_of;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

const KIND: FactsKind = FactsKind::Provisioning;

/// Facts with which nodes are provisioned.
#[derive(Serialize, ToSchema)]
pub(super) struct ProvisioningFacts {
    /// Address and parameters of the provisioning engine; empty unless uploaded.
    #[schema(value_type = Object)]
    engine: JsonMap,
    /// Documents of the nodes, each with the `uid` of its node.
    #[schema(value_type = Vec<Object>)]
    nodes: Vec<JsonMap>,
}

/// Retrieve provisioning facts
///
/// Uploaded facts replace computed ones.
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/orchestrator/provisioning",
    params(("id" = i64, Path), ("nodes" = Option<String>, Query, description = "IDs of the nodes to return, comma-separated (default: all nodes)")),
    responses((status = 200, body = ProvisioningFacts))
)]
pub(super) async fn provisioning_facts_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<ApiResponse<ProvisioningFacts>> {
    let (node_ids, _) = selection(query)?;
    let mut session = app.store.snapshot().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    let nodes = nodes(&mut session, &cluster, node_ids).await?;
    let mut facts = with_supplied(&mut session, &cluster, &nodes).await?;
    let mut documents = std::mem::take(&mut facts.nodes);
    documents.push(facts.engine);
    mask_for(&login, &mut documents);
    facts.engine = documents.pop().unwrap_or_default();
    facts.nodes = documents;
    Ok(ApiResponse::ok(facts).version(cluster.generation))
}

/// Retrieve computed provisioning facts
///
/// Ignores uploaded facts.
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/orchestrator/provisioning/defaults",
    params(("id" = i64, Path), ("nodes" = Option<String>, Query, description = "IDs of the nodes to return, comma-separated (default: all nodes)")),
    responses((status = 200, body = ProvisioningFacts))
)]
pub(super) async fn provisioning_facts_show_defaults(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<ApiResponse<ProvisioningFacts>> {
    let (node_ids, _) = selection(query)?;
    let mut session = app.store.snapshot().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    let nodes = nodes(&mut session, &cluster, node_ids).await?;
    let facts = ProvisioningFacts { engine: JsonMap::new(), nodes: compute::provisioning(&nodes) };
    Ok(ApiResponse::ok(facts).version(cluster.generation))
}

/// Upload provisioning facts
///
/// Uploaded facts replace the computed facts of their nodes. Facts of other nodes are unchanged.
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/orchestrator/provisioning", params(("id" = i64, Path)),
    request_body = ProvisioningFacts, responses((status = 200, body = ProvisioningFacts))
)]
pub(super) async fn provisioning_facts_update(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<ApiResponse<ProvisioningFacts>> {
    let (engine, documents) = document.fields(|fields| {
        let engine = fields.optional("engine", json_map);
        let nodes = fields.required("nodes", list_of(read_document));
        Some((engine, nodes?))
    })?;
    let uploaded = ProvisioningFacts {
        engine: engine.clone().unwrap_or_default(),
        nodes: documents.iter().map(|(_, document)| document.clone()).collect(),
    };
    let engine = engine.map(|engine| (ENGINE.to_owned(), engine));
    let mut writing = app.change(&login).await?;
    let mut cluster = cluster_of(&mut writing, &login, &path).await?;
    condition.check(cluster.generation)?;
    store_facts(&mut writing, &mut cluster, KIND, ENGINE, engine.into_iter().chain(documents).collect())
        .await?;
    writing.commit(describe("cluster.facts.update", &cluster, KIND)).await?;
    Ok(ApiResponse::ok(uploaded).version(cluster.generation))
}

/// Delete uploaded provisioning facts
///
/// Restores the computed facts.
#[utoipa::path(
    delete, path = "/api/v1/clusters/{id}/orchestrator/provisioning", params(("id" = i64, Path)),
    responses((status = 202, body = Object, description = "`{}`"))
)]
pub(super) async fn provisioning_facts_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
) -> ApiResult<ApiResponse<JsonMap>> {
    let mut writing = app.change(&login).await?;
    let mut cluster = cluster_of(&mut writing, &login, &path).await?;
    condition.check(cluster.generation)?;
    delete_facts(&mut writing, &mut cluster, KIND).await?;
    writing.commit(describe("cluster.facts.delete", &cluster, KIND)).await?;
    Ok(ApiResponse::accepted(JsonMap::new()))
}

async fn with_supplied(
    session: &mut Session,
    cluster: &Cluster,
    nodes: &[Node],
) -> ApiResult<ProvisioningFacts> {
    let mut supplied = supplied(session, cluster, KIND).await?;
    let engine = supplied.remove(ENGINE).unwrap_or_default();
    let computed = compute::provisioning(nodes);
    let documents = nodes.iter().zip(computed);
    let documents =
        documents.map(|(node, computed)| supplied.remove(&node.id.to_string()).unwrap_or(computed));
    Ok(ProvisioningFacts { engine, nodes: documents.collect() })
}
