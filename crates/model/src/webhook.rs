//! Notifications about events, and their delivery to webhooks.

use crate::{ClusterId, DeliveryId, Json, Micros, NodeId, NotificationId, RunId, WebhookId, words};

words! {
    /// The subject of a notification.
    Topic {
        NodeBack => "node.back",
        NodeLost => "node.lost",
        /// The machine of a node was replaced by another one.
        NodeReplaced => "node.replaced",
        RunFailed => "run.failed",
        RunPartial => "run.partial",
        RunStarted => "run.started",
        RunStopped => "run.stopped",
        RunSucceeded => "run.succeeded",
        /// A test message requested by a user.
        WebhookTest => "webhook.test",
    }
}

words! {
    /// The status of a webhook delivery.
    DeliveryStatus {
        /// An attempt or a retry is pending.
        Pending => "pending",
        Delivered => "delivered",
        /// All delivery attempts failed.
        Failed => "failed",
    }
}

/// A notification about an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    pub id: NotificationId,
    pub topic: Topic,
    pub at: Micros,
    pub message: String,
    pub cluster_id: Option<ClusterId>,
    pub run_id: Option<RunId>,
    pub node_id: Option<NodeId>,
    pub is_read: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewNotification {
    pub topic: Topic,
    pub message: String,
    pub cluster_id: Option<ClusterId>,
    pub run_id: Option<RunId>,
    pub node_id: Option<NodeId>,
    /// Payload for webhooks.
    pub body: Json,
}

/// A URL that receives notifications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    pub id: WebhookId,
    pub generation: i64,
    pub body: WebhookBody,
    pub created_at: Micros,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookBody {
    /// Webhook name, globally unique.
    pub name: String,
    pub url: String,
    /// Topics to deliver; empty: all.
    pub topics: Vec<Topic>,
    /// Cluster whose notifications are sent; `None` for all clusters.
    pub cluster_id: Option<ClusterId>,
    pub enabled: bool,
}

impl WebhookBody {
    /// Reports whether the webhook subscribes to this notification.
    pub fn is_subscribed(&self, topic: Topic, cluster: Option<ClusterId>) -> bool {
        let topic_fits = self.topics.is_empty() || self.topics.contains(&topic);
        self.enabled && topic_fits && self.cluster_id.is_none_or(|cluster_id| cluster == Some(cluster_id))
    }
}

/// A queued message to a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookDelivery {
    pub id: DeliveryId,
    pub webhook_id: WebhookId,
    pub topic: Topic,
    pub body: Json,
    pub status: DeliveryStatus,
    /// Number of attempts so far.
    pub attempts: i64,
    /// Time of the next attempt.
    pub next_attempt_at: Micros,
    pub created_at: Micros,
    /// Time of the last attempt.
    pub last_attempt_at: Option<Micros>,
    /// HTTP status of the last response, if there was one.
    pub response_status: Option<i64>,
    /// Error of the last attempt.
    pub last_error: Option<String>,
}

/// The result of one delivery attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryAttempt {
    pub status: DeliveryStatus,
    pub due_at: Micros,
    pub tried_at: Micros,
    pub answer: Option<i64>,
    pub problem: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn webhook_receives_subscribed_topics() {
        let body = |topics: &[Topic], cluster: Option<i64>, enabled| WebhookBody {
            name: "w".to_owned(),
            url: "http://example/".to_owned(),
            topics: topics.to_vec(),
            cluster_id: cluster.map(ClusterId),
            enabled,
        };
        let here = Some(ClusterId(1));
        assert!(body(&[], None, true).is_subscribed(Topic::NodeLost, None));
        assert!(body(&[], Some(1), true).is_subscribed(Topic::RunFailed, here));
        assert!(body(&[Topic::RunFailed], None, true).is_subscribed(Topic::RunFailed, here));
        assert!(!body(&[Topic::RunFailed], None, true).is_subscribed(Topic::RunStarted, here));
        assert!(!body(&[], Some(1), true).is_subscribed(Topic::RunFailed, Some(ClusterId(2))));
        assert!(!body(&[], Some(1), true).is_subscribed(Topic::NodeLost, None));
        assert!(!body(&[], None, false).is_subscribed(Topic::RunFailed, here));
    }
}
