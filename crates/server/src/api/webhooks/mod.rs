//! Webhooks: HTTP endpoints that receive events. Only admins may manage them: a webhook makes the server send
//! requests into its own network.

mod deliveries;
mod view;

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use stoker_model::{AuditChange, Json, Permission, EncryptedContents, Webhook, WebhookId};
use stoker_services::random;
use stoker_store::{List, Session, StoreError};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::view::{NewWebhookBody, WebhookChangeBody, WebhookUpdate, WebhookView, read_new};
use crate::access::caller::Authenticated;
use crate::api::routes::Routes;
use crate::http::response::{ApiResponse, NoContent};
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::list::{Paging, list};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

/// Bounds the work per event: each event is matched against every webhook.
const WEBHOOKS_MAX: usize = 100;
const SECRET_CHARS: usize = 40;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("webhooks")
        .add(Permission::Administer, routes!(webhook_list))
        .add(Permission::Administer, routes!(webhook_create))
        .add(Permission::Administer, routes!(webhook_show))
        .add(Permission::Administer, routes!(webhook_update))
        .add(Permission::Administer, routes!(webhook_delete))
        .add_unversioned(Permission::Administer, routes!(deliveries::webhook_test))
        .add(Permission::Administer, routes!(deliveries::delivery_list))
        .add(Permission::Administer, routes!(deliveries::delivery_show))
        .add_unversioned(Permission::Administer, routes!(deliveries::delivery_again))
        .finish()
}

/// List webhooks
#[utoipa::path(get, path = "/api/v1/webhooks", params(Paging), responses((status = 200, body = [WebhookView])))]
async fn webhook_list(State(app): State<App>, mut query: Query) -> ApiResult<ApiResponse<Vec<WebhookView>>> {
    let list = list(&mut query);
    query.finish()?;
    let page = app.store.read().await?.webhook_list(&list).await?;
    ApiResponse::page(&list, page, |webhook| WebhookView::new(webhook, None))
}

/// Create a webhook
///
/// The secret of the webhook is only returned in this response.
#[utoipa::path(
    post, path = "/api/v1/webhooks", request_body = NewWebhookBody,
    responses((status = 201, body = WebhookView))
)]
async fn webhook_create(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<ApiResponse<WebhookView>> {
    let (body, secret) = document.fields(read_new)?;
    let secret = match secret {
        Some(secret) => secret,
        None => random::password(SECRET_CHARS)?,
    };
    let sealed = encrypt_secret(&app, &secret)?;
    let mut writing = app.change(&login).await?;
    if writing.webhook_list(&List::default()).await?.items.len() >= WEBHOOKS_MAX {
        return Err(ApiError::conflict(format!(
            "the maximum of {WEBHOOKS_MAX} webhooks is reached; delete one first"
        )));
    }
    let webhook =
        writing.webhook_create(&body, &sealed).await.map_err(|error| describe_error(error, &body.name))?;
    writing.commit(change("webhook.create", &webhook)).await?;
    Ok(ApiResponse::created(WebhookView::new(webhook, Some(secret))).version(1))
}

/// Retrieve a webhook
#[utoipa::path(
    get, path = "/api/v1/webhooks/{id}", params(("id" = i64, Path)),
    responses((status = 200, body = WebhookView))
)]
async fn webhook_show(State(app): State<App>, path: PathParams) -> ApiResult<ApiResponse<WebhookView>> {
    let webhook = find(&mut app.store.read().await?, &path).await?;
    let generation = webhook.generation;
    Ok(ApiResponse::ok(WebhookView::new(webhook, None)).version(generation))
}

/// Update a webhook
///
/// Omitted fields are unchanged, including the secret.
#[utoipa::path(
    put, path = "/api/v1/webhooks/{id}", params(("id" = i64, Path)), request_body = WebhookChangeBody,
    responses((status = 200, body = WebhookView))
)]
async fn webhook_update(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<ApiResponse<WebhookView>> {
    let update = document.fields(|fields| Some(WebhookUpdate::read(fields)))?;
    let sealed = update.secret().map(|secret| encrypt_secret(&app, secret)).transpose()?;
    let mut writing = app.change(&login).await?;
    let mut webhook = find(&mut writing, &path).await?;
    condition.check(webhook.generation)?;
    update.apply(&mut webhook.body);
    let updated = writing.webhook_update(&webhook, sealed.as_ref()).await;
    let webhook = updated.map_err(|error| describe_error(error, &webhook.body.name))?;
    writing.commit(change("webhook.update", &webhook)).await?;
    // The webhook may have been enabled: wake the sender.
    app.services.webhooks.notify();
    let generation = webhook.generation;
    Ok(ApiResponse::ok(WebhookView::new(webhook, None)).version(generation))
}

/// Delete a webhook
///
/// Pending deliveries are discarded.
#[utoipa::path(delete, path = "/api/v1/webhooks/{id}", params(("id" = i64, Path)), responses((status = 204)))]
async fn webhook_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
) -> ApiResult<NoContent> {
    let mut writing = app.change(&login).await?;
    let webhook = find(&mut writing, &path).await?;
    condition.check(webhook.generation)?;
    writing.webhook_delete(webhook.id).await?;
    writing.commit(change("webhook.delete", &webhook)).await?;
    Ok(NoContent)
}

async fn find(session: &mut Session, path: &PathParams) -> ApiResult<Webhook> {
    let id = path.id("id", WebhookId, "Webhook")?;
    session.webhook_get(id).await?.ok_or_else(|| ApiError::not_found("Webhook"))
}

fn encrypt_secret(app: &App, secret: &str) -> ApiResult<EncryptedContents> {
    app.services.module_keys.seal(secret).map_err(|error| {
        tracing::error!(error = %error, "cannot encrypt the webhook secret");
        let message = "cannot encrypt the secret; see the server log";
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    })
}

fn describe_error(error: StoreError, name: &str) -> ApiError {
    match error {
        StoreError::AlreadyExists { .. } => ApiError::conflict(format!("webhook `{name}` already exists")),
        StoreError::NotFound { what: "cluster" } => ApiError::bad_request("the cluster does not exist"),
        error => error.into(),
    }
}

fn change(action: &'static str, webhook: &Webhook) -> AuditChange {
    let detail: Json = json!({"name": webhook.body.name, "url": webhook.body.url});
    AuditChange { action, target: format!("webhook {}", webhook.id), detail }
}
