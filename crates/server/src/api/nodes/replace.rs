//! Announced replacement of the machine of a node.

use axum::extract::State;
use stoker_api_types::nodes::NodeView;
use stoker_model::AgentUid;
use stoker_services::nodes::{ReplacedNode, node_replace as replace};

use super::access::node_of;
use super::by_id::answer;
use crate::access::caller::Authenticated;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
use crate::state::App;

/// Replace the machine of a node
///
/// Prepares the node for another machine. Revokes the credential and the certificates of the present agent, closes its
/// connection and deletes the applied states of the node. A node of a cluster becomes a newly assigned node with the same
/// roles (`discover`, `pending_addition`), so that the next run executes all of its tasks. The agent of the new machine
/// joins under the name of the node, with a join token that has `may_replace`.
#[utoipa::path(
    post, path = "/api/v1/nodes/{id}/replace", params(("id" = i64, Path)),
    responses((status = 200, body = NodeView))
)]
pub(super) async fn node_replace(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<NodeView>> {
    let mut writing = app.change(&login).await?;
    let node = node_of(&mut writing, &login, &path).await?;
    let ReplacedNode { node, digest } = replace(writing, node).await?;
    app.orchestrator.revoke_agent(&AgentUid::from(node.id), digest);
    app.services.webhooks.notify();
    Ok(answer(node))
}
