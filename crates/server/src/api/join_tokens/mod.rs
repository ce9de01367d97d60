//! Tokens with which agents come in: each is good for a while, or for so many agents.

use axum::extract::State;
use serde::Serialize;
use serde_json::json;
use stoker_manifest::reader::{boolean, integer_in, nullable, string_of};
use stoker_model::{Change, JoinToken, JoinTokenId, NewJoinToken, Permission};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use stoker_services::clock;

use crate::access::caller::Authenticated;
use crate::access::login::random_secret;
use crate::http::answer::{Answer, NoContent};
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::list::{Paging, list};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::api::routes::Routes;
use crate::state::App;

/// A year: whoever installs machines for longer makes another.
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
    label: Option<String>,
    /// How many agents may still come in with it; null: as many as like.
    uses_left: Option<i64>,
    /// Whether an agent that comes in with it may take the place of one that is there already, or be that of the master.
    may_replace: bool,
    created_at: String,
    expires_at: String,
    /// The secret, in the answer that makes it and never again.
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
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
struct JoinTokenBody {
    #[schema(example = "rack 7", min_length = 1, max_length = 255)]
    label: Option<String>,
    /// How many agents may come in with it; not given: as many as like.
    #[schema(example = 20, minimum = 1)]
    uses: Option<i64>,
    /// Whether an agent may take the place of one that is there already, or be that of the master; not if not given.
    may_replace: Option<bool>,
    /// How long it lives, in seconds; a day if not given.
    #[schema(example = 3600, minimum = 1)]
    expires_in: Option<i64>,
}

/// Tokens with which agents can come in
#[utoipa::path(get, path = "/api/v1/join_tokens", params(Paging), responses((status = 200, body = [JoinTokenView])))]
async fn join_token_list(
    State(app): State<App>,
    _login: Authenticated,
    mut query: Query,
) -> ApiResult<Answer<Vec<JoinTokenView>>> {
    let wanted = list(&mut query);
    query.finish()?;
    let page = app.store.read().await?.join_token_list(&wanted).await?;
    Answer::page(&wanted, page, |token| JoinTokenView::new(token, None))
}

/// A token with which agents can come in; the answer is the only place where it can be read
#[utoipa::path(
    post, path = "/api/v1/join_tokens", request_body = JoinTokenBody,
    responses((status = 201, body = JoinTokenView))
)]
async fn join_token_create(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<Answer<JoinTokenView>> {
    let (label, uses_left, may_replace, seconds) = document.fields(|fields| {
        let label = fields.optional("label", nullable(string_of(1..=255))).flatten();
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
    writing.commit(Change { action: "join_token.create", target, detail }).await?;
    Ok(Answer::created(JoinTokenView::new(token, Some(secret.reveal().to_owned()))))
}

/// Revoke a join token; agents that came in with it stay
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
    writing.commit(Change { action: "join_token.delete", target, detail }).await?;
    Ok(NoContent)
}
