//! A node reports for the first time.

use axum::extract::State;
use serde_json::json;
use stoker_manifest::codes;
use stoker_manifest::reader::{Fields, json, nullable, string, string_of};
use stoker_model::{JsonMap, NewNode, NodeStatus};
use stoker_store::StoreError;
use stoker_yaml::{NodeKind, Scalar};

use super::access::describe;
use super::names::{read_hostname, read_ip, read_labels, read_mac, read_meta};
use super::view::{NewNodeBody, NodeView};
use crate::access::caller::Authenticated;
use crate::http::answer::Answer;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

const TEXT_CHARS_MAX: usize = 4096;
/// What a node gets only after it is known.
const LATER: &[&str] = &["cluster", "cluster_id", "roles", "pending_roles"];
/// What an agent may say about itself that is of no interest here.
const IGNORED: &[&str] =
    &["id", "online", "is_agent", "agent_checksum", "pending_addition", "pending_deletion"];

/// A node that an agent found
#[utoipa::path(
    post, path = "/api/v1/nodes", request_body = NewNodeBody,
    responses((status = 201, body = NodeView))
)]
pub(super) async fn node_create(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<Answer<NodeView>> {
    let (new, status) = document.fields(read_new)?;
    let new = new.ok_or_else(|| ApiError::bad_request("No mac address specified"))?;
    if status.is_some_and(|status| status != NodeStatus::Discover.as_str()) {
        return Err(ApiError::forbidden("Only bootstrap nodes are allowed to be registered."));
    }
    let mut writing = app.change(&login).await?;
    let node = writing.node_create(&new).await.map_err(|error| match error {
        StoreError::Taken { .. } => {
            ApiError::conflict(format!("Node with mac {} already exists - doing nothing", new.mac))
        }
        error => error.into(),
    })?;
    writing.commit(describe("node.create", &node, json!({"mac": node.mac, "name": node.name}))).await?;
    let generation = node.generation;
    Ok(Answer::created(NodeView::from(node)).version(generation))
}

/// The node, unless it has no mac; and what it says of its status.
#[expect(clippy::unnecessary_wraps, reason = "the shape of a reader of fields")]
fn read_new(fields: &mut Fields<'_, '_>) -> Option<(Option<NewNode>, Option<String>)> {
    let text = || nullable(string_of(0..=TEXT_CHARS_MAX));
    let mac_is_given =
        fields.take("mac").is_some_and(|node| !matches!(node.kind, NodeKind::Scalar(Scalar::Null)));
    let mac = if mac_is_given { fields.optional("mac", read_mac) } else { None };
    let status = fields.optional("status", nullable(string)).flatten();
    let ip = fields.optional("ip", nullable(read_ip)).flatten();
    let name = fields.optional("name", nullable(string_of(1..=255))).flatten();
    let hostname = fields.optional("hostname", nullable(read_hostname)).flatten();
    let manufacturer = fields.optional("manufacturer", text()).flatten();
    let platform_name = fields.optional("platform_name", text()).flatten();
    let os_platform = fields.optional("os_platform", text()).flatten();
    let labels = fields.optional("labels", nullable(read_labels)).flatten().unwrap_or_default();
    let meta = fields.optional("meta", nullable(read_meta)).flatten().unwrap_or_default();
    refuse_later(fields);
    fields.ignore(IGNORED);
    let facts = rest(fields);
    let new = mac.map(|mac| NewNode {
        mac,
        ip,
        name,
        hostname,
        manufacturer,
        platform_name,
        os_platform,
        labels,
        meta,
        facts,
    });
    Some((new, status))
}

fn refuse_later(fields: &mut Fields<'_, '_>) {
    for key in LATER {
        let Some(node) = fields.take(key) else { continue };
        let says_nothing = match &node.kind {
            NodeKind::Scalar(Scalar::Null) => true,
            NodeKind::Seq(items) => items.is_empty(),
            _ => false,
        };
        if !says_nothing {
            let span = node.span;
            fields.problems().in_key(key, |problems| {
                let help =
                    "a node is discovered first, then assigned: POST /clusters/{id}/assignment/".to_owned();
                problems.error(codes::UNKNOWN_KEY, span, "is not part of a discovery").help(help);
            });
        }
    }
}

/// Everything else is kept as facts about the node.
pub(super) fn rest(fields: &mut Fields<'_, '_>) -> JsonMap {
    let mut facts = JsonMap::new();
    for (key, node) in fields.rest() {
        if let Some(value) = fields.problems().in_key(key, |problems| json(node, problems)) {
            facts.insert(key.to_owned(), value);
        }
    }
    facts
}
