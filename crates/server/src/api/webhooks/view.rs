//! How webhooks are shown and read.

use axum::http::Uri;
use serde::Serialize;
use stoker_manifest::reader::{Fields, Given, boolean, identifier, list_of, string_of, word_of};
use stoker_manifest::{Problems, codes};
use stoker_model::{ClusterId, Topic, Webhook, WebhookBody};
use stoker_yaml::Node;
use utoipa::ToSchema;

use stoker_services::clock;

/// An address that is told what happens.
#[derive(Serialize, ToSchema)]
#[schema(as = Webhook)]
pub(super) struct WebhookView {
    #[schema(example = 1)]
    id: i64,
    #[schema(example = "chat")]
    name: String,
    #[schema(example = "https://chat.example/hooks/stoker")]
    url: String,
    /// What it is told of; everything if there is nothing here.
    #[schema(example = json!(["run.failed", "node.lost"]))]
    topics: Vec<&'static str>,
    /// The cluster it is told of; null: all.
    cluster: Option<i64>,
    enabled: bool,
    created_at: String,
    /// What messages are signed with, in the answer that makes it and never again.
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

/// A new webhook.
#[derive(ToSchema)]
#[schema(as = NewWebhook)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
pub(super) struct NewWebhookBody {
    #[schema(example = "chat", min_length = 1, max_length = 255)]
    name: String,
    /// Where messages are sent to, with POST.
    #[schema(
        example = "https://chat.example/hooks/stoker",
        max_length = 2000,
        pattern = "^https?://[!-~]+$"
    )]
    url: String,
    /// What messages are signed with; one is made up if not given.
    #[schema(nullable = false, min_length = 16, max_length = 255)]
    secret: Option<String>,
    /// Everything if not given.
    #[schema(nullable = false, example = json!(["run.failed"]))]
    topics: Option<Vec<String>>,
    /// All clusters if not given.
    cluster: Option<i64>,
    #[schema(nullable = false)]
    enabled: Option<bool>,
}

/// What may change about a webhook.
#[derive(ToSchema)]
#[schema(as = WebhookChange)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
pub(super) struct WebhookChangeBody {
    #[schema(nullable = false, example = "chat", min_length = 1, max_length = 255)]
    name: Option<String>,
    #[schema(
        nullable = false,
        example = "https://chat.example/hooks/stoker",
        max_length = 2000,
        pattern = "^https?://[!-~]+$"
    )]
    url: Option<String>,
    #[schema(nullable = false, min_length = 16, max_length = 255)]
    secret: Option<String>,
    #[schema(nullable = false, example = json!(["run.failed"]))]
    topics: Option<Vec<String>>,
    cluster: Option<i64>,
    #[schema(nullable = false)]
    enabled: Option<bool>,
}

/// A new webhook, and its secret if one is given.
pub(super) fn read_new(fields: &mut Fields<'_, '_>) -> Option<(WebhookBody, Option<String>)> {
    let name = fields.required("name", string_of(1..=255));
    let url = fields.required("url", url);
    let rest = Rest::read(fields);
    let mut body =
        WebhookBody { name: name?, url: url?, topics: Vec::new(), cluster_id: None, enabled: true };
    let secret = rest.secret.clone();
    rest.apply(&mut body);
    Some((body, secret))
}

/// What a request says of a webhook that is there.
pub(super) struct Said {
    name: Option<String>,
    url: Option<String>,
    rest: Rest,
}

impl Said {
    pub(super) fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            name: fields.optional("name", string_of(1..=255)),
            url: fields.optional("url", url),
            rest: Rest::read(fields),
        }
    }

    pub(super) fn secret(&self) -> Option<&str> {
        self.rest.secret.as_deref()
    }

    pub(super) fn apply(self, body: &mut WebhookBody) {
        if let Some(name) = self.name {
            body.name = name;
        }
        if let Some(url) = self.url {
            body.url = url;
        }
        self.rest.apply(body);
    }
}

/// What need not be said.
struct Rest {
    secret: Option<String>,
    topics: Option<Vec<Topic>>,
    cluster: Given<i64>,
    enabled: Option<bool>,
}

impl Rest {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        let said = Self {
            secret: fields.optional("secret", string_of(16..=255)),
            topics: fields.optional("topics", list_of(word_of(Topic::NAMES, Topic::parse))),
            cluster: fields.given("cluster", identifier),
            enabled: fields.optional("enabled", boolean),
        };
        // Come with an answer of ours.
        fields.ignore(&["id", "created_at"]);
        said
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

/// Only what a request can be sent to; a password in it would be shown to everybody who sees the webhook.
fn url(node: &Node, problems: &mut Problems) -> Option<String> {
    let url = string_of(1..=2000)(node, problems)?;
    let parsed: Option<Uri> = url.parse().ok();
    let is_web = parsed.as_ref().is_some_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https"))
            && uri.authority().is_some_and(|host| !host.host().is_empty() && !host.as_str().contains('@'))
    });
    if is_web && url.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Some(url);
    }
    let message = "must be an address that begins with `http://` or `https://`, without user and password";
    problems.error(codes::FORM, node.span, message);
    None
}
