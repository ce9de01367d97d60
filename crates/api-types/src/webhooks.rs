//! Request and response types for webhooks and their deliveries.

use http::Uri;
use serde::{Deserialize, Serialize};
use stoker_diagnostics::Diagnostics;
use stoker_manifest::codes;
use stoker_manifest::reader::{FieldUpdate, boolean, enum_of, identifier, list_of, string_with_length};
use stoker_model::{Json, Topic};
use stoker_yaml::Node;
use utoipa::ToSchema;

use crate::request::request;

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

request! {
    /// New webhook.
    #[schema(as = NewWebhook)]
    pub struct NewWebhookBody {
        /// Name of the webhook, unique.
        #[schema(example = "chat", min_length = 1, max_length = 255)]
        name: String = required(string_with_length(1..=255)),
        /// URL to which messages are sent with `POST`.
        #[schema(
            example = "https://chat.example/hooks/stoker",
            max_length = 2000,
            pattern = "^https?://[!-~]+$"
        )]
        url: String = required(read_url),
        /// Secret with which messages are signed (default: generated).
        #[schema(nullable = false, min_length = 16, max_length = 255)]
        secret: Option<String> = optional(string_with_length(16..=255)),
        /// Topics that the webhook receives (default: all).
        #[schema(nullable = false, example = json!(["run.failed"]), value_type = Option<Vec<String>>)]
        topics: Option<Vec<Topic>> = optional(list_of(enum_of(Topic::NAMES, Topic::parse))),
        /// ID of the cluster whose events the webhook receives (default: all clusters).
        #[schema(value_type = Option<i64>)]
        cluster: FieldUpdate<i64> = update(identifier),
        /// Whether messages are sent (default true).
        #[schema(nullable = false)]
        enabled: Option<bool> = optional(boolean),
    }
    // The server assigns these. A downloaded webhook can be created on another server.
    ignored: "id", "created_at";
}

request! {
    /// Update of a webhook. Omitted fields are unchanged.
    #[schema(as = WebhookChange)]
    pub struct WebhookChangeBody {
        /// Name of the webhook, unique.
        #[schema(nullable = false, example = "chat", min_length = 1, max_length = 255)]
        name: Option<String> = optional(string_with_length(1..=255)),
        /// URL to which messages are sent with `POST`.
        #[schema(
            nullable = false,
            example = "https://chat.example/hooks/stoker",
            max_length = 2000,
            pattern = "^https?://[!-~]+$"
        )]
        url: Option<String> = optional(read_url),
        /// Secret with which messages are signed.
        #[schema(nullable = false, min_length = 16, max_length = 255)]
        secret: Option<String> = optional(string_with_length(16..=255)),
        /// Topics that the webhook receives. Empty for all topics.
        #[schema(nullable = false, example = json!(["run.failed"]), value_type = Option<Vec<String>>)]
        topics: Option<Vec<Topic>> = optional(list_of(enum_of(Topic::NAMES, Topic::parse))),
        /// ID of the cluster whose events the webhook receives; null for all clusters.
        #[schema(value_type = Option<i64>)]
        cluster: FieldUpdate<i64> = update(identifier),
        /// Whether messages are sent.
        #[schema(nullable = false)]
        enabled: Option<bool> = optional(boolean),
    }
    read_only: "id", "created_at";
}

/// Reads an HTTP URL. Credentials are rejected because all users who can read the webhook would see them.
fn read_url(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    let url = string_with_length(1..=2000)(node, problems)?;
    let parsed: Option<Uri> = url.parse().ok();
    let is_http = parsed.as_ref().is_some_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https"))
            && uri.authority().is_some_and(|host| !host.host().is_empty() && !host.as_str().contains('@'))
    });
    if is_http && url.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Some(url);
    }
    let message = "must be a URL that starts with `http://` or `https://`, without user and password";
    problems.error(codes::FORM, node.span, message);
    None
}
