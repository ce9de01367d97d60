//! Notifications: events that users should see.

use axum::extract::State;
use serde::Serialize;
use serde_json::json;
use stoker_manifest::reader::{identifier, list_of, one_of};
use stoker_model::{AuditChange, ClusterId, Notification, NotificationId, Permission, Topic};
use stoker_services::clock;
use stoker_store::NotificationFilter;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::caller::Authenticated;
use crate::api::routes::Routes;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::list::{Paging, list};
use crate::http::query::Query;
use crate::state::App;

const STATUSES: &[&str] = &["read", "unread"];

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("notifications")
        .add(Permission::Read, routes!(notification_list))
        .add(Permission::Read, routes!(notification_stats))
        .add_unversioned(Permission::Operate, routes!(notification_mark))
        .finish()
}

/// Event that users should see.
#[derive(Serialize, ToSchema)]
#[schema(as = Notification)]
struct NotificationView {
    /// ID of the notification.
    #[schema(example = 3)]
    id: i64,
    /// Topic of the event.
    #[schema(example = "run.failed")]
    topic: &'static str,
    /// Human-readable message.
    #[schema(example = "deploy of `shop` (run 7) has failed")]
    message: String,
    /// `read` or `unread`. Shared by all users.
    status: &'static str,
    /// Time of the event.
    at: String,
    /// ID of the cluster that the event is about.
    cluster: Option<i64>,
    /// ID of the run that the event is about.
    run: Option<i64>,
    /// ID of the node that the event is about.
    node: Option<i64>,
}

impl From<Notification> for NotificationView {
    fn from(notification: Notification) -> Self {
        Self {
            id: notification.id.0,
            topic: notification.topic.as_str(),
            message: notification.message,
            status: STATUSES[usize::from(!notification.is_read)],
            at: clock::plain(notification.at),
            cluster: notification.cluster_id.map(|id| id.0),
            run: notification.run_id.map(|id| id.0),
            node: notification.node_id.map(|id| id.0),
        }
    }
}

/// Number of notifications.
#[derive(Serialize, ToSchema)]
#[schema(as = NotificationStats)]
struct StatsView {
    /// Number of notifications.
    total: u64,
    /// Number of read notifications.
    read: u64,
    /// Number of unread notifications.
    unread: u64,
}

/// Notifications to mark and their new status.
#[derive(ToSchema)]
#[schema(as = NotificationMark)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
struct MarkBody {
    /// New status: `read` or `unread`.
    #[schema(example = "read")]
    status: String,
    /// IDs of the notifications (default: every notification that the caller may see).
    #[schema(nullable = false, example = json!([3]))]
    ids: Option<Vec<i64>>,
}

/// Result of marking notifications.
#[derive(Serialize, ToSchema)]
#[schema(as = NotificationsMarked)]
struct MarkedView {
    /// Number of notifications whose status changed.
    changed: u64,
}

/// List notifications
///
/// Returns the newest first.
#[utoipa::path(
    get, path = "/api/v1/notifications",
    params(
        ("status" = Option<String>, Query, description = "Filter by status: `read` or `unread`"),
        ("topic" = Option<String>, Query, description = "Filter by topic, comma-separated"),
        ("cluster" = Option<i64>, Query, description = "Filter by cluster"),
        Paging
    ),
    responses((status = 200, body = [NotificationView]))
)]
async fn notification_list(
    State(app): State<App>,
    login: Authenticated,
    mut query: Query,
) -> ApiResult<ApiResponse<Vec<NotificationView>>> {
    let list = list(&mut query);
    let topics = query.words("topic", Topic::parse, Topic::NAMES);
    let is_read = query.words("status", parse_status, STATUSES);
    let cluster_id = query.natural("cluster").map(|id| ClusterId(i64::try_from(id).unwrap_or(i64::MAX)));
    query.finish()?;
    let filter = NotificationFilter {
        tenant_id: login.tenant_limit(),
        cluster_id,
        topics,
        // Both statuses together filter nothing.
        is_read: is_read.filter(|statuses| statuses.len() == 1).map(|statuses| statuses[0]),
        ..NotificationFilter::default()
    };
    let page = app.store.read().await?.notification_list(&filter, &list).await?;
    ApiResponse::page(&list, page, NotificationView::from)
}

/// Retrieve notification statistics
///
/// Returns the number of notifications, read and unread.
#[utoipa::path(get, path = "/api/v1/notifications/stats", responses((status = 200, body = StatsView)))]
async fn notification_stats(State(app): State<App>, login: Authenticated) -> ApiResult<ApiResponse<StatsView>> {
    let visible = NotificationFilter { tenant_id: login.tenant_limit(), ..NotificationFilter::default() };
    let unread = NotificationFilter { is_read: Some(false), ..visible.clone() };
    let mut session = app.store.snapshot().await?;
    let total = session.notification_count(&visible).await?;
    let unread = session.notification_count(&unread).await?;
    Ok(ApiResponse::ok(StatsView { total, read: total.saturating_sub(unread), unread }))
}

/// Mark notifications as read or unread
#[utoipa::path(
    put, path = "/api/v1/notifications", request_body = MarkBody, responses((status = 200, body = MarkedView))
)]
async fn notification_mark(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<ApiResponse<MarkedView>> {
    let (status, ids) = document.fields(|fields| {
        let status = fields.required("status", one_of(STATUSES));
        let ids = fields.optional("ids", list_of(identifier));
        Some((status?, ids))
    })?;
    let ids = ids.map(|ids| ids.into_iter().map(NotificationId).collect::<Vec<_>>());
    let filter = NotificationFilter { tenant_id: login.tenant_limit(), ids, ..NotificationFilter::default() };
    let mut writing = app.change(&login).await?;
    let changed = writing.notification_mark(&filter, status == "read").await?;
    if changed > 0 {
        let detail = json!({"status": status, "n_notifications": changed});
        let target = "notifications".to_owned();
        writing.commit(AuditChange { action: "notification.mark", target, detail }).await?;
    }
    Ok(ApiResponse::ok(MarkedView { changed }))
}

fn parse_status(text: &str) -> Option<bool> {
    match text {
        "read" => Some(true),
        "unread" => Some(false),
        _ => None,
    }
}
