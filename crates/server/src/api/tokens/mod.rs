//! Tokens: those of logins, and those that users create for scripts.

use axum::extract::State;
use serde::Serialize;
use serde_json::json;
use stoker_manifest::reader::{integer_in, string_with_length};
use stoker_model::{AuditChange, NewToken, Permission, Token, TokenId, UserId};
use stoker_services::clock;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::caller::Authenticated;
use crate::access::login::random_secret;
use crate::api::routes::Routes;
use crate::http::response::{ApiResponse, NoContent};
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::list::{Paging, list};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

/// Maximum lifetime: ten years.
const SECONDS_MAX: i64 = 10 * 365 * 24 * 3600;
const SECONDS_DEFAULT: i64 = 30 * 24 * 3600;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("users")
        .add(Permission::Own, routes!(token_list))
        .add(Permission::Own, routes!(token_create))
        .add_unversioned(Permission::Own, routes!(token_delete))
        .finish()
}

/// API token.
#[derive(Serialize, ToSchema)]
#[schema(as = Token)]
struct TokenView {
    /// ID of the token.
    id: i64,
    /// ID of the owner.
    user_id: i64,
    /// ID of the tenant that the token gives access to.
    tenant_id: i64,
    /// Label that the owner chose; null for login tokens.
    label: Option<String>,
    /// Creation time.
    issued_at: String,
    /// Expiration time.
    expires_at: String,
    /// Secret of the token. Only returned when the token is created.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "stk_…")]
    token: Option<String>,
}

impl TokenView {
    fn new(token: Token, secret: Option<String>) -> Self {
        Self {
            id: token.id.0,
            user_id: token.user_id.0,
            tenant_id: token.tenant_id.0,
            label: token.label,
            issued_at: clock::plain(token.issued_at),
            expires_at: clock::plain(token.expires_at),
            token: secret,
        }
    }
}

/// New token.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
struct TokenBody {
    /// Label of the token.
    #[schema(example = "nightly job", min_length = 1, max_length = 255)]
    label: String,
    /// Lifetime in seconds (default 30 days, maximum 10 years).
    #[schema(example = 86400, minimum = 1)]
    expires_in: Option<i64>,
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
    ApiResponse::page(&list, page, |token| TokenView::new(token, None))
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
    let (label, seconds) = document.fields(|fields| {
        let label = fields.required("label", string_with_length(1..=255));
        let seconds = fields.optional("expires_in", integer_in(1..=SECONDS_MAX));
        Some((label?, seconds.unwrap_or(SECONDS_DEFAULT)))
    })?;
    let secret = random_secret()?;
    let issued_at = app.clock.now();
    let new = NewToken {
        user_id: login.caller.user_id,
        tenant_id: login.caller.tenant_id,
        label: Some(label),
        digest: secret.digest(),
        issued_at,
        expires_at: issued_at.plus_seconds(seconds),
    };
    let mut writing = app.change(&login).await?;
    let token = writing.token_create(&new).await?;
    let detail = json!({"label": token.label});
    writing.commit(AuditChange { action: "token.create", target: format!("token {}", token.id), detail }).await?;
    Ok(ApiResponse::created(TokenView::new(token, Some(secret.reveal().to_owned()))))
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
