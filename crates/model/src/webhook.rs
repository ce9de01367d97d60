//! What happened that people want to know of, and where it is told.

use crate::{ClusterId, DeliveryId, Json, Micros, NodeId, NotificationId, RunId, WebhookId, words};

words! {
    /// What a notification is about.
    Topic {
        NodeBack => "node.back",
        NodeLost => "node.lost",
        RunFailed => "run.failed",
        RunStarted => "run.started",
        RunStopped => "run.stopped",
        RunSucceeded => "run.succeeded",
        /// Somebody wants to see whether a webhook works.
        WebhookTest => "webhook.test",
    }
}

words! {
    /// What became of a message to a webhook.
    DeliveryStatus {
        /// It will be tried, or tried again.
        Pending => "pending",
        Delivered => "delivered",
        /// It was tried often enough.
        Failed => "failed",
    }
}

/// Something that happened.
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
    /// What webhooks are sent.
    pub body: Json,
}

/// An address that is told what happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    pub id: WebhookId,
    pub generation: i64,
    pub body: WebhookBody,
    pub created_at: Micros,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookBody {
    /// Unique.
    pub name: String,
    pub url: String,
    /// What it is told of; all of it if there is none.
    pub topics: Vec<Topic>,
    /// The cluster it is told of; all of them if there is none.
    pub cluster_id: Option<ClusterId>,
    pub enabled: bool,
}

impl WebhookBody {
    /// Whether it wants to know of that.
    pub fn wants(&self, topic: Topic, cluster: Option<ClusterId>) -> bool {
        let topic_fits = self.topics.is_empty() || self.topics.contains(&topic);
        self.enabled && topic_fits && self.cluster_id.is_none_or(|wanted| cluster == Some(wanted))
    }
}

/// A message to a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub id: DeliveryId,
    pub webhook_id: WebhookId,
    pub topic: Topic,
    pub body: Json,
    pub status: DeliveryStatus,
    /// How often it was tried.
    pub attempts: i64,
    /// When it is tried next.
    pub due_at: Micros,
    pub created_at: Micros,
    /// When it was tried last.
    pub tried_at: Option<Micros>,
    /// The status of the answer, if there was one.
    pub answer: Option<i64>,
    /// What went wrong the last time.
    pub problem: Option<String>,
}

/// What came of one try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryTry {
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
    fn a_webhook_is_told_what_it_asked_for() {
        let body = |topics: &[Topic], cluster: Option<i64>, enabled| WebhookBody {
            name: "w".to_owned(),
            url: "http://example/".to_owned(),
            topics: topics.to_vec(),
            cluster_id: cluster.map(ClusterId),
            enabled,
        };
        let here = Some(ClusterId(1));
        assert!(body(&[], None, true).wants(Topic::NodeLost, None));
        assert!(body(&[], Some(1), true).wants(Topic::RunFailed, here));
        assert!(body(&[Topic::RunFailed], None, true).wants(Topic::RunFailed, here));
        assert!(!body(&[Topic::RunFailed], None, true).wants(Topic::RunStarted, here));
        assert!(!body(&[], Some(1), true).wants(Topic::RunFailed, Some(ClusterId(2))));
        assert!(!body(&[], Some(1), true).wants(Topic::NodeLost, None));
        assert!(!body(&[], None, false).wants(Topic::RunFailed, here));
    }
}
