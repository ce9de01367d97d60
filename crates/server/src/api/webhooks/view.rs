//! Conversion between webhooks and their API types.

use stoker_api_types::webhooks::{NewWebhookBody, WebhookChangeBody, WebhookView};
use stoker_model::{ClusterId, Topic, Webhook, WebhookBody};

use stoker_services::clock;

pub(super) fn render_webhook(webhook: Webhook, secret: Option<String>) -> WebhookView {
    let WebhookBody { name, url, topics, cluster_id, enabled } = webhook.body;
    WebhookView {
        id: webhook.id.0,
        name,
        url,
        topics: topics.into_iter().map(|topic| topic.as_str().to_owned()).collect(),
        cluster: cluster_id.map(|id| id.0),
        enabled,
        created_at: clock::plain(webhook.created_at),
        secret,
    }
}

/// Converts a new webhook; its secret is stored separately.
pub(super) fn new_webhook(new: NewWebhookBody) -> WebhookBody {
    WebhookBody {
        name: new.name,
        url: new.url,
        topics: new.topics.map(sorted).unwrap_or_default(),
        cluster_id: new.cluster.value().map(ClusterId),
        enabled: new.enabled.unwrap_or(true),
    }
}

pub(super) fn apply(update: WebhookChangeBody, webhook: &mut WebhookBody) {
    if let Some(name) = update.name {
        webhook.name = name;
    }
    if let Some(url) = update.url {
        webhook.url = url;
    }
    if let Some(topics) = update.topics {
        webhook.topics = sorted(topics);
    }
    let mut cluster = webhook.cluster_id.map(|id| id.0);
    update.cluster.apply(&mut cluster);
    webhook.cluster_id = cluster.map(ClusterId);
    webhook.enabled = update.enabled.unwrap_or(webhook.enabled);
}

fn sorted(mut topics: Vec<Topic>) -> Vec<Topic> {
    topics.sort_unstable();
    topics.dedup();
    topics
}
