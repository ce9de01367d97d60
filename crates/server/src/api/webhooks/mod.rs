//! Webhooks: HTTP endpoints that receive events. Only admins may manage them, because a webhook makes the
//! server send requests into its network.

mod deliveries;
mod view;

use axum::extract::State;
use stoker_api_types::Request as _;
use stoker_api_types::webhooks::{NewWebhookBody, WebhookChangeBody, WebhookView};
use stoker_model::{Permission, Webhook, WebhookId};
use stoker_store::Session;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::view::{apply, new_webhook, render_webhook};
use crate::access::caller::Authenticated;
use crate::api::routes::Routes;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::list::{Paging, list};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::{ApiResponse, NoContent};
use crate::state::App;

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
    ApiResponse::page(&list, page, |webhook| render_webhook(webhook, None))
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
    let mut new: NewWebhookBody = document.request()?;
    let secret = new.secret.take();
    let (webhook, secret) = app.services.webhooks.create(&login.actor(), &new_webhook(new), secret).await?;
    Ok(ApiResponse::created(render_webhook(webhook, Some(secret))).version(1))
}

/// Retrieve a webhook
#[utoipa::path(
    get, path = "/api/v1/webhooks/{id}", params(("id" = i64, Path)),
    responses((status = 200, body = WebhookView))
)]
async fn webhook_show(State(app): State<App>, path: PathParams) -> ApiResult<ApiResponse<WebhookView>> {
    let webhook = find(&mut app.store.read().await?, &path).await?;
    let generation = webhook.generation;
    Ok(ApiResponse::ok(render_webhook(webhook, None)).version(generation))
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
    let mut update: WebhookChangeBody = document.request()?;
    let secret = update.secret.take();
    // Read-only fields never change, so that a snapshot suffices.
    let stored = find(&mut app.store.read().await?, &path).await?;
    let (actor, id) = (login.actor(), stored.id);
    document.check_read_only(WebhookChangeBody::READ_ONLY, &render_webhook(stored, None))?;
    let webhooks = &app.services.webhooks;
    let webhook =
        webhooks.update(&actor, id, &condition, secret.as_deref(), |body| apply(update, body)).await?;
    let generation = webhook.generation;
    Ok(ApiResponse::ok(render_webhook(webhook, None)).version(generation))
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
    app.services.webhooks.delete(&login.actor(), webhook_id(&path)?, &condition).await?;
    Ok(NoContent)
}

async fn find(session: &mut Session, path: &PathParams) -> ApiResult<Webhook> {
    session.webhook_get(webhook_id(path)?).await?.ok_or_else(|| ApiError::not_found("Webhook"))
}

fn webhook_id(path: &PathParams) -> ApiResult<WebhookId> {
    path.id("id", WebhookId, "Webhook")
}
