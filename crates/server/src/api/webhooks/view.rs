//! Request and response types of webhooks.

use axum::http::Uri;
use serde::Serialize;
use stoker_manifest::reader::{FieldUpdate, Fields, boolean, enum_of, identifier, list_of, string_with_length};
use stoker_manifest::codes;
use stoker_diagnostics::Diagnostics;
use stoker_model::{ClusterId, Topic, Webhook, WebhookBody};
use stoker_yaml::Node;
use utoipa::ToSchema;

use stoker_services::clock;

/// HTTP endpoint that receives events.
#[derive(Serialize, ToSchema)]
#[schema(as = Webhook)]
pub(super) struct WebhookView {
    /// ID of the webhook.
    #[schema(example = 1)]
    id: i64,
    /// Name of the webhook.
    #[schema(example = "chat")]
    name: String,
    /// URL to which messages are sent.
    #[schema(example = "https://chat.example/hooks/stoker")]
    url: String,
    /// Topics that the webhook receives. Empty for all topics.
    #[schema(example = json!(["run.failed", "node.lost"]))]
    topics: Vec<&'static str>,
    /// ID of the cluster whose events the webhook receives; null for all clusters.
    cluster: Option<i64>,
    /// Whether messages are sent.
    enabled: bool,
    /// Creation time.
    created_at: String,
    /// Secret with which messages are signed. Only returned when the webhook is created.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

impl WebhookView {
    pub(super) fn new(webhook: Webhook, secret: Option<String>) -> Self {
        let WebhookBody { name, url, topics, cluster_id, enabled } = webhook.body;
        Self {
            id: webhook.id.0,
            name,
            url,
            topics: topics.into_iter().map(Topic::as_str).collect(),
            cluster: cluster_id.map(|id| id.0),
            enabled,
            created_at: clock::plain(webhook.created_at),
            secret,
        }
    }
}

/// New webhook.
#[derive(ToSchema)]
#[schema(as = NewWebhook)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct NewWebhookBody {
    /// Name of the webhook, unique.
    #[schema(example = "chat", min_length = 1, max_length = 255)]
    name: String,
    /// URL to which messages are sent with `POST`.
    #[schema(
        example = "https://chat.example/hooks/stoker",
        max_length = 2000,
        pattern = "^https?://[!-~]+$"
    )]
    url: String,
    /// Secret with which messages are signed (default: generated).
    #[schema(nullable = false, min_length = 16, max_length = 255)]
    secret: Option<String>,
    /// Topics that the webhook receives (default: all).
    #[schema(nullable = false, example = json!(["run.failed"]))]
    topics: Option<Vec<String>>,
    /// ID of the cluster whose events the webhook receives (default: all clusters).
    cluster: Option<i64>,
    /// Whether messages are sent (default true).
    #[schema(nullable = false)]
    enabled: Option<bool>,
}

/// Update of a webhook. Omitted fields are unchanged.
#[derive(ToSchema)]
#[schema(as = WebhookChange)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct WebhookChangeBody {
    /// Name of the webhook, unique.
    #[schema(nullable = false, example = "chat", min_length = 1, max_length = 255)]
    name: Option<String>,
    /// URL to which messages are sent with `POST`.
    #[schema(
        nullable = false,
        example = "https://chat.example/hooks/stoker",
        max_length = 2000,
        pattern = "^https?://[!-~]+$"
    )]
    url: Option<String>,
    /// Secret with which messages are signed.
    #[schema(nullable = false, min_length = 16, max_length = 255)]
    secret: Option<String>,
    /// Topics that the webhook receives. Empty for all topics.
    #[schema(nullable = false, example = json!(["run.failed"]))]
    topics: Option<Vec<String>>,
    /// ID of the cluster whose events the webhook receives; null for all clusters.
    cluster: Option<i64>,
    /// Whether messages are sent.
    #[schema(nullable = false)]
    enabled: Option<bool>,
}

/// Parses a new webhook and its optional secret.
pub(super) fn read_new(fields: &mut Fields<'_, '_>) -> Option<(WebhookBody, Option<String>)> {
    let name = fields.required("name", string_with_length(1..=255));
    let url = fields.required("url", url);
    let optional = OptionalFields::read(fields);
    let mut body =
        WebhookBody { name: name?, url: url?, topics: Vec::new(), cluster_id: None, enabled: true };
    let secret = optional.secret.clone();
    optional.apply(&mut body);
    Some((body, secret))
}

/// Update of a webhook.
pub(super) struct WebhookUpdate {
    name: Option<String>,
    url: Option<String>,
    optional: OptionalFields,
}

impl WebhookUpdate {
    pub(super) fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            name: fields.optional("name", string_with_length(1..=255)),
            url: fields.optional("url", url),
            optional: OptionalFields::read(fields),
        }
    }

    pub(super) fn secret(&self) -> Option<&str> {
        self.optional.secret.as_deref()
    }

    pub(super) fn apply(self, body: &mut WebhookBody) {
        if let Some(name) = self.name {
            body.name = name;
        }
        if let Some(url) = self.url {
            body.url = url;
        }
        self.optional.apply(body);
    }
}

/// Fields that are optional in new webhooks and in updates.
struct OptionalFields {
    secret: Option<String>,
    topics: Option<Vec<Topic>>,
    cluster: FieldUpdate<i64>,
    enabled: Option<bool>,
}

impl OptionalFields {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        let optional = Self {
            secret: fields.optional("secret", string_with_length(16..=255)),
            topics: fields.optional("topics", list_of(enum_of(Topic::NAMES, Topic::parse))),
            cluster: fields.update("cluster", identifier),
            enabled: fields.optional("enabled", boolean),
        };
        // Read-only: part of responses, which clients may send back.
        fields.ignore(&["id", "created_at"]);
        optional
    }

    fn apply(self, body: &mut WebhookBody) {
        if let Some(mut topics) = self.topics {
            topics.sort_unstable();
            topics.dedup();
            body.topics = topics;
        }
        let mut cluster = body.cluster_id.map(|id| id.0);
        self.cluster.apply(&mut cluster);
        body.cluster_id = cluster.map(ClusterId);
        body.enabled = self.enabled.unwrap_or(body.enabled);
    }
}

/// Parses an HTTP URL. Credentials are rejected because everyone who can read the webhook would see them.
fn url(node: &Node, problems: &mut Diagnostics) -> Option<String> {
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
