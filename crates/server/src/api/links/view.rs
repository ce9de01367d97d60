//! How links are shown and read.

use serde::Serialize;
use stoker_manifest::reader::{Fields, Given, boolean, string_of};
use stoker_manifest::{Problems, codes};
use stoker_model::{Link, LinkBody};
use stoker_yaml::Node;
use utoipa::ToSchema;

/// A link that dashboards show.
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
    /// Kept, and not shown to people.
    hidden: bool,
}

impl From<Link> for LinkView {
    fn from(link: Link) -> Self {
        let LinkBody { title, url, description, hidden } = link.body;
        Self { id: link.id.0, title, url, description, hidden }
    }
}

/// A new link.
#[derive(ToSchema)]
#[schema(as = NewLink)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
pub(super) struct NewLinkBody {
    #[schema(example = "Monitoring", min_length = 1, max_length = 255)]
    title: String,
    /// An address of the web, or a path on this server.
    #[schema(example = "https://monitoring.example/", max_length = 250, pattern = "^(https?://|/)[!-~]*$")]
    url: String,
    #[schema(max_length = 1000)]
    description: Option<String>,
    #[schema(nullable = false)]
    hidden: Option<bool>,
}

/// What may change about a link.
#[derive(ToSchema)]
#[schema(as = LinkChange)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
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
    let rest = read_rest(fields);
    let mut body = LinkBody { title: title?, url: url?, description: None, hidden: false };
    rest.apply(&mut body);
    Some(body)
}

/// What a request says about a link that is there.
pub(super) struct Said {
    title: Option<String>,
    url: Option<String>,
    rest: Rest,
}

impl Said {
    pub(super) fn read(fields: &mut Fields<'_, '_>) -> Self {
        let title = fields.optional("title", title());
        let url = fields.optional("url", url);
        Self { title, url, rest: read_rest(fields) }
    }

    pub(super) fn apply(self, body: &mut LinkBody) {
        if let Some(title) = self.title {
            body.title = title;
        }
        if let Some(url) = self.url {
            body.url = url;
        }
        self.rest.apply(body);
    }
}

struct Rest {
    description: Given<String>,
    hidden: Option<bool>,
}

fn read_rest(fields: &mut Fields<'_, '_>) -> Rest {
    let description = fields.given("description", string_of(0..=1000));
    let hidden = fields.optional("hidden", boolean);
    // Comes with an answer of ours.
    fields.ignore(&["id"]);
    Rest { description, hidden }
}

impl Rest {
    fn apply(self, body: &mut LinkBody) {
        self.description.apply(&mut body.description);
        if let Some(hidden) = self.hidden {
            body.hidden = hidden;
        }
    }
}

fn title() -> impl Fn(&Node, &mut Problems) -> Option<String> {
    string_of(1..=255)
}

/// People click on it: what a browser would run instead of opening is refused.
fn url(node: &Node, problems: &mut Problems) -> Option<String> {
    let url = string_of(1..=250)(node, problems)?;
    let is_web = ["http://", "https://", "/"].iter().any(|start| url.starts_with(start));
    if is_web && url.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Some(url);
    }
    let message = "must begin with `http://`, `https://` or `/`, and have no blanks";
    problems.error(codes::FORM, node.span, message);
    None
}
