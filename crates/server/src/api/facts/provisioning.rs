//! Provisioning facts: the provisioning engine, and one document per node.

use axum::extract::State;
use stoker_api_types::facts::ProvisioningFacts;
use stoker_manifest::reader::{json_map, list_of};
use stoker_model::{Cluster, FactsKind, JsonMap, Node};
use stoker_services::facts::{facts_delete, facts_update, nodes_of};
use stoker_services::planning::supplied;
use stoker_store::Session;

use super::compute;
use super::read::{ENGINE, NodeQuery, read_document, selection};
use crate::access::caller::Authenticated;
use crate::access::mask::mask_for;
use crate::api::clusters::access::cluster_of;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

const KIND: FactsKind = FactsKind::Provisioning;

/// Retrieve provisioning facts
///
/// Uploaded facts replace computed ones.
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/orchestrator/provisioning",
    params(
        ("id" = i64, Path), NodeQuery,
        ("split" = Option<String>, Query, description = "Accepted for compatibility; provisioning facts are one document"),
    ),
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
    let nodes = nodes_of(&mut session, login.tenant_limit(), &cluster, node_ids.as_deref()).await?;
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
    params(
        ("id" = i64, Path), NodeQuery,
        ("split" = Option<String>, Query, description = "Accepted for compatibility; provisioning facts are one document"),
    ),
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
    let nodes = nodes_of(&mut session, login.tenant_limit(), &cluster, node_ids.as_deref()).await?;
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
    let cluster = cluster_of(&mut writing, &login, &path).await?;
    let documents = engine.into_iter().chain(documents).collect();
    let cluster = facts_update(writing, cluster, &condition, KIND, ENGINE, documents).await?;
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
    let cluster = cluster_of(&mut writing, &login, &path).await?;
    facts_delete(writing, cluster, &condition, KIND).await?;
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
