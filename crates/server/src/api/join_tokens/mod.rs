//! Join tokens, with which agents join: limited by time and, optionally, by number of uses.

use axum::extract::State;
use serde_json::json;
use stoker_api_types::join_tokens::{JoinTokenBody, JoinTokenView};
use stoker_model::{AuditChange, JoinToken, JoinTokenId, NewJoinToken, Permission};
use stoker_services::clock;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::caller::Authenticated;
use crate::access::login::random_secret;
use crate::api::routes::Routes;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::list::{Paging, list};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::{ApiResponse, NoContent};
use crate::state::App;

const SECONDS_DEFAULT: i64 = 24 * 3600;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("agents")
        .add(Permission::Operate, routes!(join_token_list))
        .add(Permission::Operate, routes!(join_token_create))
        .add_unversioned(Permission::Operate, routes!(join_token_delete))
        .finish()
}

fn render_join_token(token: JoinToken, secret: Option<String>) -> JoinTokenView {
    JoinTokenView {
        id: token.id.0,
        label: token.label,
        uses_left: token.uses_left,
        may_replace: token.may_replace,
        created_at: clock::plain(token.created_at),
        expires_at: clock::plain(token.expires_at),
        token: secret,
    }
}

/// List join tokens
#[utoipa::path(get, path = "/api/v1/join_tokens", params(Paging), responses((status = 200, body = [JoinTokenView])))]
async fn join_token_list(
    State(app): State<App>,
    _login: Authenticated,
    mut query: Query,
) -> ApiResult<ApiResponse<Vec<JoinTokenView>>> {
    let paging = list(&mut query);
    query.finish()?;
    let page = app.store.read().await?.join_token_list(&paging).await?;
    ApiResponse::page(&paging, page, |token| render_join_token(token, None))
}

/// Create a join token
///
/// The secret is only returned in this response.
#[utoipa::path(
    post, path = "/api/v1/join_tokens", request_body = JoinTokenBody,
    responses((status = 201, body = JoinTokenView))
)]
async fn join_token_create(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<ApiResponse<JoinTokenView>> {
    let JoinTokenBody { label, uses: uses_left, may_replace, expires_in } = document.request()?;
    let may_replace = may_replace.unwrap_or(false);
    let secret = random_secret()?;
    let created_at = app.clock.now();
    let expires_at = created_at.plus_seconds(expires_in.unwrap_or(SECONDS_DEFAULT));
    let digest = secret.digest();
    let new = NewJoinToken { label, digest, uses_left, may_replace, created_at, expires_at };
    let mut writing = app.change(&login).await?;
    let token = writing.join_token_create(&new).await?;
    let detail = json!({"label": token.label, "uses": token.uses_left, "may_replace": token.may_replace});
    let target = format!("join token {}", token.id);
    writing.commit(AuditChange { action: "join_token.create", target, detail }).await?;
    Ok(ApiResponse::created(render_join_token(token, Some(secret.reveal().to_owned()))))
}

/// Delete a join token
///
/// Agents that have joined with the token are not affected.
#[utoipa::path(delete, path = "/api/v1/join_tokens/{id}", params(("id" = i64, Path)), responses((status = 204)))]
async fn join_token_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<NoContent> {
    let id = path.id("id", JoinTokenId, "JoinToken")?;
    let mut writing = app.change(&login).await?;
    let token = writing.join_token_get(id).await?.ok_or_else(|| ApiError::not_found("JoinToken"))?;
    writing.join_token_delete(id).await?;
    let detail = json!({"label": token.label});
    let target = format!("join token {id}");
    writing.commit(AuditChange { action: "join_token.delete", target, detail }).await?;
    Ok(NoContent)
}
