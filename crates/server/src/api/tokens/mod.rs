//! Tokens: those of logins, and those that people make for their scripts.

use axum::extract::State;
use serde::Serialize;
use serde_json::json;
use stoker_manifest::reader::{integer_in, string_of};
use stoker_model::{Change, NewToken, Permission, Token, TokenId, UserId};
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

/// Ten years.
const SECONDS_MAX: i64 = 10 * 365 * 24 * 3600;
const SECONDS_DEFAULT: i64 = 30 * 24 * 3600;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("users")
        .add(Permission::Own, routes!(token_list))
        .add(Permission::Own, routes!(token_create))
        .add_unversioned(Permission::Own, routes!(token_delete))
        .finish()
}

#[derive(Serialize, ToSchema)]
#[schema(as = Token)]
struct TokenView {
    id: i64,
    user_id: i64,
    tenant_id: i64,
    /// What its owner calls it; null for one of a login.
    label: Option<String>,
    issued_at: String,
    expires_at: String,
    /// The secret, in the answer that makes it and never again.
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

#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
struct TokenBody {
    #[schema(example = "nightly job", min_length = 1, max_length = 255)]
    label: String,
    /// How long it lives; 30 days if not given.
    #[schema(example = 86400, minimum = 1)]
    expires_in: Option<i64>,
}

/// One's own tokens; an admin may ask for those of a user
#[utoipa::path(
    get, path = "/api/v1/tokens",
    params(Paging, ("user_id" = Option<i64>, Query, description = "Whose; others' only for an admin")),
    responses((status = 200, body = [TokenView]))
)]
async fn token_list(
    State(app): State<App>,
    login: Authenticated,
    mut query: Query,
) -> ApiResult<Answer<Vec<TokenView>>> {
    let wanted = list(&mut query);
    let user_id = query.natural("user_id").map_or(login.caller.user_id, |id| UserId(id as i64));
    query.finish()?;
    if user_id != login.caller.user_id && !login.caller.may(Permission::Administer) {
        return Err(ApiError::forbidden("only an admin may see tokens of others"));
    }
    let page = app.store.read().await?.token_list(Some(user_id), &wanted).await?;
    Answer::page(&wanted, page, |token| TokenView::new(token, None))
}

/// A token for a script of one's own; the answer is the only place where it can be read
#[utoipa::path(post, path = "/api/v1/tokens", request_body = TokenBody, responses((status = 201, body = TokenView)))]
async fn token_create(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<Answer<TokenView>> {
    let (label, seconds) = document.fields(|fields| {
        let label = fields.required("label", string_of(1..=255));
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
    writing.commit(Change { action: "token.create", target: format!("token {}", token.id), detail }).await?;
    Ok(Answer::created(TokenView::new(token, Some(secret.reveal().to_owned()))))
}

/// Revoke a token; from now on it opens nothing
#[utoipa::path(delete, path = "/api/v1/tokens/{id}", params(("id" = i64, Path)), responses((status = 204)))]
async fn token_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<NoContent> {
    let id = path.id("id", TokenId, "Token")?;
    let mut writing = app.change(&login).await?;
    let token = writing.token_get(id).await?.ok_or_else(|| ApiError::not_found("Token"))?;
    if token.user_id != login.caller.user_id && !login.caller.may(Permission::Administer) {
        // What is not one's own does not exist.
        return Err(ApiError::not_found("Token"));
    }
    writing.token_delete(id).await?;
    let detail = json!({"label": token.label, "user_id": token.user_id.0});
    writing.commit(Change { action: "token.delete", target: format!("token {id}"), detail }).await?;
    app.orchestrator.forget_tokens();
    Ok(NoContent)
}
