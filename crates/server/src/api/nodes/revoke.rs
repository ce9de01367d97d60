//! Revocation of the agent credentials of a node.

use axum::extract::State;
use serde_json::json;
use stoker_model::AgentUid;

use super::access::{describe, node_of};
use crate::access::caller::Authenticated;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::http::response::NoContent;
use crate::state::App;

/// Revoke the agent of a node
///
/// Revokes the credential and the certificates of the agent and closes its connection. The agent can join
/// again only with a join token that has `may_replace`.
#[utoipa::path(delete, path = "/api/v1/nodes/{id}/agent", params(("id" = i64, Path)), responses((status = 204)))]
pub(super) async fn node_revoke(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<NoContent> {
    let mut writing = app.change(&login).await?;
    let node = node_of(&mut writing, &login, &path).await?;
    let uid = AgentUid::from(node.id);
    let digest = writing.agent_digest(&uid).await?;
    writing.node_revoke(node.id).await?;
    writing.commit(describe("node.revoke", &node, json!({}))).await?;
    app.orchestrator.revoke_agent(&uid, digest);
    Ok(NoContent)
}
