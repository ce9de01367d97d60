//! Webhooks.

use serde::{Deserialize, Serialize};
use stoker_model::Json;
use utoipa::ToSchema;

/// Message to a webhook.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = WebhookDelivery)]
pub struct DeliveryView {
    /// ID of the delivery.
    #[schema(example = 12)]
    pub id: i64,
    /// Topic of the event.
    #[schema(example = "run.failed")]
    pub topic: String,
    /// Status: `pending`, `delivered`, or `failed` after the last attempt.
    #[schema(example = "delivered")]
    pub status: String,
    /// Number of attempts.
    pub attempts: i64,
    /// Creation time.
    pub created_at: String,
    /// Time of the last attempt.
    pub tried_at: Option<String>,
    /// Time of the next attempt. Null unless the delivery is pending.
    pub due_at: Option<String>,
    /// HTTP status of the last response.
    #[schema(example = 200)]
    pub answer: Option<i64>,
    /// Error of the last attempt.
    pub problem: Option<String>,
    /// Body of the message.
    #[schema(value_type = Object)]
    pub body: Json,
}

/// HTTP endpoint that receives events.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Webhook)]
pub struct WebhookView {
    /// ID of the webhook.
    #[schema(example = 1)]
    pub id: i64,
    /// Name of the webhook.
    #[schema(example = "chat")]
    pub name: String,
    /// URL to which messages are sent.
    #[schema(example = "https://chat.example/hooks/stoker")]
    pub url: String,
    /// Topics that the webhook receives. Empty for all topics.
    #[schema(example = json!(["run.failed", "node.lost"]))]
    pub topics: Vec<String>,
    /// ID of the cluster whose events the webhook receives; null for all clusters.
    pub cluster: Option<i64>,
    /// Whether messages are sent.
    pub enabled: bool,
    /// Creation time.
    pub created_at: String,
    /// Secret with which messages are signed. Only returned when the webhook is created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}
