//! Join tokens, with which agents join: limited by time and, optionally, by number of uses.

use axum::extract::State;
use serde::Serialize;
use serde_json::json;
use stoker_manifest::reader::{boolean, integer_in, nullable, string_with_length};
use stoker_model::{AuditChange, JoinToken, JoinTokenId, NewJoinToken, Permission};
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

/// Maximum lifetime of a join token: one year, to bound the damage of a leaked token.
const SECONDS_MAX: i64 = 365 * 24 * 3600;
const SECONDS_DEFAULT: i64 = 24 * 3600;
const USES_MAX: i64 = 1_000_000;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("agents")
        .add(Permission::Operate, routes!(join_token_list))
        .add(Permission::Operate, routes!(join_token_create))
        .add_unversioned(Permission::Operate, routes!(join_token_delete))
        .finish()
}

#[derive(Serialize, ToSchema)]
#[schema(as = JoinToken)]
struct JoinTokenView {
    #[schema(example = 1)]
    id: i64,
    /// Description of the token.
    label: Option<String>,
    /// Number of agents that may still join with the token; null for no limit.
    uses_left: Option<i64>,
    /// Whether an agent may replace an existing agent of a node, or become the agent of the master.
    may_replace: bool,
    created_at: String,
    expires_at: String,
    /// Secret of the token. Only returned when the token is created.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "stk_…")]
    token: Option<String>,
}

impl JoinTokenView {
    fn new(token: JoinToken, secret: Option<String>) -> Self {
        Self {
            id: token.id.0,
            label: token.label,
            uses_left: token.uses_left,
            may_replace: token.may_replace,
            created_at: clock::plain(token.created_at),
            expires_at: clock::plain(token.expires_at),
            token: secret,
        }
    }
}

#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
struct JoinTokenBody {
    /// Description of the token.
    #[schema(example = "rack 7", min_length = 1, max_length = 255)]
    label: Option<String>,
    /// Number of agents that may join with the token (default: no limit).
    #[schema(example = 20, minimum = 1)]
    uses: Option<i64>,
    /// Whether an agent may replace an existing agent of a node, or become the agent of the master (default:
    /// false).
    may_replace: Option<bool>,
    /// Lifetime in seconds (default: 86400, one day).
    #[schema(example = 3600, minimum = 1)]
    expires_in: Option<i64>,
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
    ApiResponse::page(&paging, page, |token| JoinTokenView::new(token, None))
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
    let (label, uses_left, may_replace, seconds) = document.fields(|fields| {
        let label = fields.optional("label", nullable(string_with_length(1..=255))).flatten();
        let uses = fields.optional("uses", nullable(integer_in(1..=USES_MAX))).flatten();
        let may_replace = fields.optional("may_replace", nullable(boolean)).flatten().unwrap_or(false);
        let seconds = fields.optional("expires_in", integer_in(1..=SECONDS_MAX));
        Some((label, uses, may_replace, seconds.unwrap_or(SECONDS_DEFAULT)))
    })?;
    let secret = random_secret()?;
    let created_at = app.clock.now();
    let expires_at = created_at.plus_seconds(seconds);
    let digest = secret.digest();
    let new = NewJoinToken { label, digest, uses_left, may_replace, created_at, expires_at };
    let mut writing = app.change(&login).await?;
    let token = writing.join_token_create(&new).await?;
    let detail = json!({"label": token.label, "uses": token.uses_left, "may_replace": token.may_replace});
    let target = format!("join token {}", token.id);
    writing.commit(AuditChange { action: "join_token.create", target, detail }).await?;
    Ok(ApiResponse::created(JoinTokenView::new(token, Some(secret.reveal().to_owned()))))
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
