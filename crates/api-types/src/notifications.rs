//! Request and response types for notifications.

use serde::{Deserialize, Serialize};
use stoker_manifest::reader::{identifier, list_of, one_of};
use utoipa::ToSchema;

use crate::request::request;

/// Statuses of a notification.
pub const STATUSES: &[&str] = &["read", "unread"];

/// Event that users should see.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Notification)]
pub struct NotificationView {
    /// ID of the notification.
    #[schema(example = 3)]
    pub id: i64,
    /// Topic of the event.
    #[schema(example = "run.failed")]
    pub topic: String,
    /// Human-readable message.
    #[schema(example = "deploy of `shop` (run 7) has failed")]
    pub message: String,
    /// `read` or `unread`. Shared by all users.
    pub status: String,
    /// Time of the event.
    pub at: String,
    /// ID of the cluster that the event is about.
    pub cluster: Option<i64>,
    /// ID of the run that the event is about.
    pub run: Option<i64>,
    /// ID of the node that the event is about.
    pub node: Option<i64>,
}

/// Number of notifications.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = NotificationStats)]
pub struct StatsView {
    /// Number of notifications.
    pub total: u64,
    /// Number of read notifications.
    pub read: u64,
    /// Number of unread notifications.
    pub unread: u64,
}

/// Result of marking notifications.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = NotificationsMarked)]
pub struct MarkedView {
    /// Number of notifications whose status changed.
    pub changed: u64,
}

request! {
    /// Notifications to mark and their new status.
    #[schema(as = NotificationMark)]
    pub struct MarkBody {
        /// New status: `read` or `unread`.
        #[schema(example = "read")]
        status: &'static str = required(one_of(STATUSES)),
        /// IDs of the notifications (default: every notification that the caller may see).
        #[schema(nullable = false, example = json!([3]))]
        ids: Option<Vec<i64>> = optional(list_of(identifier)),
    }
}
