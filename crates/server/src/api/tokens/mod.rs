//! Tokens: those of logins, and those that users create for scripts.

use axum::extract::State;
use serde_json::json;
use stoker_api_types::tokens::{TokenBody, TokenView};
use stoker_model::{AuditChange, NewToken, Permission, Token, TokenId, UserId};
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

const SECONDS_DEFAULT: i64 = 30 * 24 * 3600;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("users")
        .add(Permission::Own, routes!(token_list))
        .add(Permission::Own, routes!(token_create))
        .add_unversioned(Permission::Own, routes!(token_delete))
        .finish()
}

fn render_token(token: Token, secret: Option<String>) -> TokenView {
    TokenView {
        id: token.id.0,
        user_id: token.user_id.0,
        tenant_id: token.tenant_id.0,
        label: token.label,
        issued_at: clock::plain(token.issued_at),
        expires_at: clock::plain(token.expires_at),
        token: secret,
    }
}

/// List tokens
///
/// Returns the tokens of the caller. Admins can list the tokens of other users.
#[utoipa::path(
    get, path = "/api/v1/tokens",
    params(Paging, ("user_id" = Option<i64>, Query, description = "ID of the user (default: the caller); other users require an admin")),
    responses((status = 200, body = [TokenView]))
)]
async fn token_list(
    State(app): State<App>,
    login: Authenticated,
    mut query: Query,
) -> ApiResult<ApiResponse<Vec<TokenView>>> {
    let list = list(&mut query);
    let user_id = query.natural("user_id").map_or(login.caller.user_id, |id| UserId(id as i64));
    query.finish()?;
    if user_id != login.caller.user_id && !login.caller.has_permission(Permission::Administer) {
        return Err(ApiError::forbidden("only admins may list the tokens of other users"));
    }
    let page = app.store.read().await?.token_list(Some(user_id), &list).await?;
    ApiResponse::page(&list, page, |token| render_token(token, None))
}

/// Create a token
///
/// Creates a token for scripts. Its secret is only returned in this response.
#[utoipa::path(post, path = "/api/v1/tokens", request_body = TokenBody, responses((status = 201, body = TokenView)))]
async fn token_create(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<ApiResponse<TokenView>> {
    let TokenBody { label, expires_in } = document.request()?;
    let secret = random_secret()?;
    let issued_at = app.clock.now();
    let new = NewToken {
        user_id: login.caller.user_id,
        tenant_id: login.caller.tenant_id,
        label: Some(label),
        digest: secret.digest(),
        issued_at,
        expires_at: issued_at.plus_seconds(expires_in.unwrap_or(SECONDS_DEFAULT)),
    };
    let mut writing = app.change(&login).await?;
    let token = writing.token_create(&new).await?;
    let detail = json!({"label": token.label});
    writing
        .commit(AuditChange { action: "token.create", target: format!("token {}", token.id), detail })
        .await?;
    Ok(ApiResponse::created(render_token(token, Some(secret.reveal().to_owned()))))
}

/// Revoke a token
#[utoipa::path(delete, path = "/api/v1/tokens/{id}", params(("id" = i64, Path)), responses((status = 204)))]
async fn token_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<NoContent> {
    let id = path.id("id", TokenId, "Token")?;
    let mut writing = app.change(&login).await?;
    let token = writing.token_get(id).await?.ok_or_else(|| ApiError::not_found("Token"))?;
    if token.user_id != login.caller.user_id && !login.caller.has_permission(Permission::Administer) {
        // Do not reveal that tokens of other users exist.
        return Err(ApiError::not_found("Token"));
    }
    writing.token_delete(id).await?;
    let detail = json!({"label": token.label, "user_id": token.user_id.0});
    writing.commit(AuditChange { action: "token.delete", target: format!("token {id}"), detail }).await?;
    app.orchestrator.clear_token_cache();
    Ok(NoContent)
}
