//! Deliveries: messages to webhooks and their results.

use axum::extract::State;
use serde::Serialize;
use serde_json::json;
use stoker_model::{AuditChange, Delivery, DeliveryId, DeliveryStatus, Json, Topic};
use stoker_services::clock;
use stoker_services::webhooks::test_message;
use stoker_store::Session;
use utoipa::ToSchema;

use super::find;
use crate::access::caller::Authenticated;
use crate::http::response::ApiResponse;
use crate::http::error::{ApiError, ApiResult};
use crate::http::list::{Paging, list};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

/// Message to a webhook.
#[derive(Serialize, ToSchema)]
#[schema(as = WebhookDelivery)]
pub(super) struct DeliveryView {
    /// ID of the delivery.
    #[schema(example = 12)]
    id: i64,
    /// Topic of the event.
    #[schema(example = "run.failed")]
    topic: &'static str,
    /// Status: `pending`, `delivered`, or `failed` after the last attempt.
    #[schema(example = "delivered")]
    status: &'static str,
    /// Number of attempts.
    attempts: i64,
    /// Creation time.
    created_at: String,
    /// Time of the last attempt.
    tried_at: Option<String>,
    /// Time of the next attempt. Null unless the delivery is pending.
    due_at: Option<String>,
    /// HTTP status of the last response.
    #[schema(example = 200)]
    answer: Option<i64>,
    /// Error of the last attempt.
    problem: Option<String>,
    /// Body of the message.
    #[schema(value_type = Object)]
    body: Json,
}

impl From<Delivery> for DeliveryView {
    fn from(delivery: Delivery) -> Self {
        let is_pending = delivery.status == DeliveryStatus::Pending;
        Self {
            id: delivery.id.0,
            topic: delivery.topic.as_str(),
            status: delivery.status.as_str(),
            attempts: delivery.attempts,
            created_at: clock::plain(delivery.created_at),
            tried_at: delivery.last_attempt_at.map(clock::plain),
            due_at: is_pending.then(|| clock::plain(delivery.next_attempt_at)),
            answer: delivery.response_status,
            problem: delivery.last_error,
            body: delivery.body,
        }
    }
}

/// Test a webhook
///
/// Sends a test message to the webhook. Returns the delivery, which is sent in the background.
#[utoipa::path(
    post, path = "/api/v1/webhooks/{id}/test", params(("id" = i64, Path)),
    responses((status = 202, body = DeliveryView))
)]
pub(super) async fn webhook_test(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<DeliveryView>> {
    let mut writing = app.change(&login).await?;
    let webhook = find(&mut writing, &path).await?;
    if !webhook.body.enabled {
        return Err(ApiError::conflict("the webhook is disabled; enable it first"));
    }
    let body = test_message(&webhook, writing.now());
    let delivery = writing.delivery_create(webhook.id, Topic::WebhookTest, &body).await?;
    let detail = json!({"delivery_id": delivery.id.0});
    let target = format!("webhook {}", webhook.id);
    writing.commit(AuditChange { action: "webhook.test", target, detail }).await?;
    app.services.webhooks.notify();
    Ok(ApiResponse::accepted(delivery.into()))
}

/// List the deliveries of a webhook
///
/// Returns the newest first.
#[utoipa::path(
    get, path = "/api/v1/webhooks/{id}/deliveries",
    params(("id" = i64, Path), ("status" = Option<String>, Query, description = "Filter by status: `pending`, `delivered` or `failed`"), Paging),
    responses((status = 200, body = [DeliveryView]))
)]
pub(super) async fn delivery_list(
    State(app): State<App>,
    path: PathParams,
    mut query: Query,
) -> ApiResult<ApiResponse<Vec<DeliveryView>>> {
    let list = list(&mut query);
    let statuses = query.words("status", DeliveryStatus::parse, DeliveryStatus::NAMES);
    let status = match statuses.as_deref() {
        None | Some([]) => None,
        Some([status]) => Some(*status),
        Some(_) => {
            query.problem("status", "specify at most one status");
            None
        }
    };
    query.finish()?;
    let mut session = app.store.read().await?;
    let webhook = find(&mut session, &path).await?;
    let page = session.delivery_list(webhook.id, status, &list).await?;
    ApiResponse::page(&list, page, DeliveryView::from)
}

/// Retrieve a delivery
#[utoipa::path(
    get, path = "/api/v1/webhooks/{id}/deliveries/{delivery}",
    params(("id" = i64, Path), ("delivery" = i64, Path)), responses((status = 200, body = DeliveryView))
)]
pub(super) async fn delivery_show(
    State(app): State<App>,
    path: PathParams,
) -> ApiResult<ApiResponse<DeliveryView>> {
    let mut session = app.store.read().await?;
    Ok(ApiResponse::ok(find_delivery(&mut session, &path).await?.into()))
}

/// Redeliver a message
///
/// Sends the message again, regardless of its status.
#[utoipa::path(
    post, path = "/api/v1/webhooks/{id}/deliveries/{delivery}/redeliver",
    params(("id" = i64, Path), ("delivery" = i64, Path)), responses((status = 202, body = DeliveryView))
)]
pub(super) async fn delivery_again(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<DeliveryView>> {
    let mut writing = app.change(&login).await?;
    let delivery = find_delivery(&mut writing, &path).await?;
    let redelivery = writing.delivery_redeliver(delivery.id).await?.ok_or_else(not_found)?;
    let target = format!("webhook {}", delivery.webhook_id);
    let detail = json!({"delivery_id": delivery.id.0});
    writing.commit(AuditChange { action: "webhook.redeliver", target, detail }).await?;
    app.services.webhooks.notify();
    Ok(ApiResponse::accepted(redelivery.into()))
}

async fn find_delivery(session: &mut Session, path: &PathParams) -> ApiResult<Delivery> {
    let webhook = find(session, path).await?;
    let id = path.id("delivery", DeliveryId, "Delivery")?;
    let delivery = session.delivery_get(id).await?;
    delivery.filter(|delivery| delivery.webhook_id == webhook.id).ok_or_else(not_found)
}

fn not_found() -> ApiError {
    ApiError::not_found("Delivery")
}
