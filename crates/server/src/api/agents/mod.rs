//! Agents: joining, authentication, listing and removal. Agent messages are handled by the orchestrator.

mod certificate;
mod connect;
mod join;
mod nats_user;

use axum::extract::State;
use serde_json::json;
use stoker_api_types::agents::AgentView;
use stoker_model::{Agent, AgentId, AuditChange, Permission};
use stoker_services::clock;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::caller::Authenticated;
use crate::api::routes::Routes;
use crate::http::error::{ApiError, ApiResult};
use crate::http::list::{Paging, list};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::{ApiResponse, NoContent};
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("agents")
        .add(Permission::Read, routes!(agent_list))
        .add_unversioned(Permission::Operate, routes!(agent_delete))
        .add(Permission::Public, routes!(certificate::agent_certificate))
        .add(Permission::Public, routes!(join::agent_join))
        .add(Permission::Public, routes!(connect::agent_connect))
        .add(Permission::Public, routes!(nats_user::agent_nats_user))
        .finish()
}

/// List agents
///
/// Returns the agents that have joined, including those that are not connected.
#[utoipa::path(get, path = "/api/v1/agents", params(Paging), responses((status = 200, body = [AgentView])))]
async fn agent_list(
    State(app): State<App>,
    login: Authenticated,
    mut query: Query,
) -> ApiResult<ApiResponse<Vec<AgentView>>> {
    let paging = list(&mut query);
    query.finish()?;
    let page = app.store.read().await?.agent_list(login.tenant_limit(), &paging).await?;
    ApiResponse::page(&paging, page, |agent| view(&app, agent))
}

/// Delete an agent
///
/// Revokes the credential of the agent and closes its session. The agent must join again to reconnect.
#[utoipa::path(delete, path = "/api/v1/agents/{id}", params(("id" = i64, Path)), responses((status = 204)))]
async fn agent_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<NoContent> {
    let id = path.id("id", AgentId, "Agent")?;
    let mut writing = app.change(&login).await?;
    let agent = writing.agent_get(id).await?.ok_or_else(|| ApiError::not_found("Agent"))?;
    let digest = writing.agent_digest(&agent.uid).await?;
    writing.agent_delete(id).await?;
    let target = format!("agent {id}");
    writing.commit(AuditChange { action: "agent.delete", target, detail: json!({"uid": agent.uid}) }).await?;
    app.orchestrator.revoke_agent(&agent.uid, digest);
    Ok(NoContent)
}

fn view(app: &App, agent: Agent) -> AgentView {
    AgentView {
        id: agent.id.0,
        is_connected: app.orchestrator.agents.is_connected(&agent.uid),
        uid: agent.uid,
        node_id: agent.node_id.map(|id| id.0),
        version: agent.version,
        joined_at: clock::plain(agent.joined_at),
        last_seen_at: agent.last_seen_at.map(clock::plain),
    }
}
