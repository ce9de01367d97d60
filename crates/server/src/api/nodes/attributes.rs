//! Settings of one node of a cluster.

use axum::extract::State;
use serde_json::json;
use stoker_manifest::reader::json_map;
use stoker_model::{ClusterId, JsonMap, Node};
use stoker_orchestrator::local_agents::parse_ssh_location;
use stoker_services::plugins::node_metadata::{change_attributes, declared_in_cluster, effective_attributes};

use super::access::{describe, node_of};
use crate::access::caller::Authenticated;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
use crate::state::App;

/// Retrieve the settings of a node
///
/// Includes what the enabled plugins of the cluster declare in `node_config.yaml`, `nic_config.yaml`, `bond_config.yaml`,
/// `network_roles.yaml` and `volumes.yaml`.
#[utoipa::path(
    get, path = "/api/v1/nodes/{id}/attributes", params(("id" = i64, Path)),
    responses((status = 200, body = Object))
)]
pub(super) async fn node_attributes_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<JsonMap>> {
    let mut session = app.store.snapshot().await?;
    let node = node_of(&mut session, &login, &path).await?;
    let declared = declared_in_cluster(&mut session, in_cluster(&node)?).await?;
    Ok(answer(&declared, &node))
}

/// Update the settings of a node
///
/// The body is merged recursively into the current settings. If `transport` or `ssh` changes, the agent
/// connection of the node is closed.
#[utoipa::path(
    put, path = "/api/v1/nodes/{id}/attributes", params(("id" = i64, Path)), request_body = Object,
    responses((status = 200, body = Object))
)]
pub(super) async fn node_attributes_update(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<ApiResponse<JsonMap>> {
    let changes = document.read(json_map)?;
    let mut writing = app.change(&login).await?;
    let mut node = node_of(&mut writing, &login, &path).await?;
    condition.check(node.generation)?;
    let declared = declared_in_cluster(&mut writing, in_cluster(&node)?).await?;
    let changes_agent_access = ["transport", "ssh"].iter().any(|key| changes.contains_key(*key));
    change_attributes(&declared, &mut node, changes);
    if changes_agent_access && let Err(problems) = parse_ssh_location(&node) {
        return Err(ApiError::refused(problems));
    }
    let node = writing.node_update(&node).await?;
    writing.commit(describe("node.attributes", &node, json!({"name": node.name}))).await?;
    if changes_agent_access {
        app.orchestrator.close_agent(&node.id.into());
    }
    Ok(answer(&declared, &node))
}

fn in_cluster(node: &Node) -> ApiResult<ClusterId> {
    let none = || ApiError::bad_request(format!("Node '{}' doesn't belong to any cluster", node.id));
    node.cluster_id.ok_or_else(none)
}

fn answer(declared: &JsonMap, node: &Node) -> ApiResponse<JsonMap> {
    ApiResponse::ok(effective_attributes(declared, node)).version(node.generation)
}
