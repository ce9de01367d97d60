//! Request and response types for dashboard links.

use serde::{Deserialize, Serialize};
use stoker_diagnostics::Diagnostics;
use stoker_manifest::codes;
use stoker_manifest::reader::{FieldUpdate, boolean, string_with_length};
use stoker_yaml::Node;
use utoipa::ToSchema;

use crate::request::request;

/// Link on the dashboard.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Link)]
pub struct LinkView {
    #[schema(example = 5)]
    pub id: i64,
    #[schema(example = "Monitoring")]
    pub title: String,
    #[schema(example = "https://monitoring.example/")]
    pub url: String,
    pub description: Option<String>,
    /// Whether the link is hidden in the web UI.
    pub hidden: bool,
}

request! {
    /// Request body to create a link.
    #[schema(as = NewLink)]
    pub struct NewLinkBody {
        #[schema(example = "Monitoring", min_length = 1, max_length = 255)]
        title: String = required(string_with_length(1..=255)),
        /// HTTP or HTTPS URL, or a path on this server. Unique per owner.
        #[schema(example = "https://monitoring.example/", max_length = 250, pattern = "^(https?://|/)[!-~]*$")]
        url: String = required(read_url),
        #[schema(max_length = 1000, value_type = Option<String>)]
        description: FieldUpdate<String> = update(string_with_length(0..=1000)),
        /// Whether the link is hidden in the web UI (default: false).
        #[schema(nullable = false)]
        hidden: Option<bool> = optional(boolean),
    }
    // The server assigns the ID. A downloaded link can be created for another owner.
    ignored: "id";
}

request! {
    /// Request body to update a link. Omitted fields are unchanged.
    #[schema(as = LinkChange)]
    pub struct LinkChangeBody {
        #[schema(nullable = false, example = "Monitoring", min_length = 1, max_length = 255)]
        title: Option<String> = optional(string_with_length(1..=255)),
        #[schema(
            nullable = false,
            example = "/monitoring/",
            max_length = 250,
            pattern = "^(https?://|/)[!-~]*$"
        )]
        url: Option<String> = optional(read_url),
        #[schema(max_length = 1000, value_type = Option<String>)]
        description: FieldUpdate<String> = update(string_with_length(0..=1000)),
        #[schema(nullable = false)]
        hidden: Option<bool> = optional(boolean),
    }
    read_only: "id";
}

/// Reads a URL. Only HTTP(S) URLs and paths are accepted: other schemes, such as `javascript:`, would run
/// code in the browser (XSS).
fn read_url(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    let url = string_with_length(1..=250)(node, problems)?;
    let is_web = ["http://", "https://", "/"].iter().any(|start| url.starts_with(start));
    if is_web && url.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Some(url);
    }
    let message = "must start with `http://`, `https://` or `/` and contain no spaces";
    problems.error(codes::FORM, node.span, message);
    None
}
