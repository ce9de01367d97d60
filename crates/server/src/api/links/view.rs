//! Request and response bodies of links.

use serde::Serialize;
use stoker_manifest::reader::{FieldUpdate, Fields, boolean, string_with_length};
use stoker_manifest::codes;
use stoker_diagnostics::Diagnostics;
use stoker_model::{Link, LinkBody};
use stoker_yaml::Node;
use utoipa::ToSchema;

/// Link on the dashboard.
#[derive(Serialize, ToSchema)]
#[schema(as = Link)]
pub(super) struct LinkView {
    #[schema(example = 5)]
    id: i64,
    #[schema(example = "Monitoring")]
    title: String,
    #[schema(example = "https://monitoring.example/")]
    url: String,
    description: Option<String>,
    /// Whether the link is hidden in the web UI.
    hidden: bool,
}

impl From<Link> for LinkView {
    fn from(link: Link) -> Self {
        let LinkBody { title, url, description, hidden } = link.body;
        Self { id: link.id.0, title, url, description, hidden }
    }
}

/// Request body to create a link.
#[derive(ToSchema)]
#[schema(as = NewLink)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct NewLinkBody {
    #[schema(example = "Monitoring", min_length = 1, max_length = 255)]
    title: String,
    /// HTTP or HTTPS URL, or a path on this server. Unique per owner.
    #[schema(example = "https://monitoring.example/", max_length = 250, pattern = "^(https?://|/)[!-~]*$")]
    url: String,
    #[schema(max_length = 1000)]
    description: Option<String>,
    /// Whether the link is hidden in the web UI (default: false).
    #[schema(nullable = false)]
    hidden: Option<bool>,
}

/// Request body to update a link. Omitted fields are unchanged.
#[derive(ToSchema)]
#[schema(as = LinkChange)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct LinkChangeBody {
    #[schema(nullable = false, example = "Monitoring", min_length = 1, max_length = 255)]
    title: Option<String>,
    #[schema(
        nullable = false,
        example = "/monitoring/",
        max_length = 250,
        pattern = "^(https?://|/)[!-~]*$"
    )]
    url: Option<String>,
    #[schema(max_length = 1000)]
    description: Option<String>,
    #[schema(nullable = false)]
    hidden: Option<bool>,
}

pub(super) fn read_new(fields: &mut Fields<'_, '_>) -> Option<LinkBody> {
    let title = fields.required("title", title());
    let url = fields.required("url", url);
    let optional = read_optional(fields);
    let mut body = LinkBody { title: title?, url: url?, description: None, hidden: false };
    optional.apply(&mut body);
    Some(body)
}

/// Changes to a link.
pub(super) struct LinkUpdate {
    title: Option<String>,
    url: Option<String>,
    optional: OptionalFields,
}

impl LinkUpdate {
    pub(super) fn read(fields: &mut Fields<'_, '_>) -> Self {
        let title = fields.optional("title", title());
        let url = fields.optional("url", url);
        Self { title, url, optional: read_optional(fields) }
    }

    pub(super) fn apply(self, body: &mut LinkBody) {
        if let Some(title) = self.title {
            body.title = title;
        }
        if let Some(url) = self.url {
            body.url = url;
        }
        self.optional.apply(body);
    }
}

struct OptionalFields {
    description: FieldUpdate<String>,
    hidden: Option<bool>,
}

fn read_optional(fields: &mut Fields<'_, '_>) -> OptionalFields {
    let description = fields.update("description", string_with_length(0..=1000));
    let hidden = fields.optional("hidden", boolean);
    // Clients send back `id` from responses.
    fields.ignore(&["id"]);
    OptionalFields { description, hidden }
}

impl OptionalFields {
    fn apply(self, body: &mut LinkBody) {
        self.description.apply(&mut body.description);
        if let Some(hidden) = self.hidden {
            body.hidden = hidden;
        }
    }
}

fn title() -> impl Fn(&Node, &mut Diagnostics) -> Option<String> {
    string_with_length(1..=255)
}

/// Parses a URL. Only HTTP(S) URLs and paths are accepted: other schemes, such as `javascript:`, would run
/// code in the browser (XSS).
fn url(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    let url = string_with_length(1..=250)(node, problems)?;
    let is_web = ["http://", "https://", "/"].iter().any(|start| url.starts_with(start));
    if is_web && url.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Some(url);
    }
    let message = "must start with `http://`, `https://` or `/` and contain no spaces";
    problems.error(codes::FORM, node.span, message);
    None
}
