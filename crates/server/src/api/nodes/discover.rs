//! Discovery: creation of nodes that report for the first time.

use axum::extract::State;
use serde_json::json;
use stoker_api_types::Request as _;
use stoker_api_types::nodes::{NewNodeBody, NodeView};
use stoker_manifest::codes;
use stoker_manifest::reader::{Fields, json};
use stoker_model::{JsonMap, NewNode, NodeFacts, NodeStatus};
use stoker_store::StoreError;
use stoker_yaml::{NodeKind, Scalar};

use super::access::describe;
use super::view::render_node;
use crate::access::caller::Authenticated;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::response::ApiResponse;
use crate::state::App;

/// Fields that can be set only on an existing node.
const ASSIGNMENT_FIELDS: &[&str] = &["cluster", "cluster_id", "roles", "pending_roles"];
/// Fields of responses that the server sets on a new node. A request may repeat the value that they get.
const READ_ONLY: &[&str] = &[
    "fqdn",
    "online",
    "pending_addition",
    "pending_deletion",
    "error_type",
    "error_msg",
    "progress",
    "group_id",
    "kernel_params",
    "network_data",
];
/// Fields that the server assigns, and those that discovery agents of Fuel send about their own protocol.
const IGNORED: &[&str] = &["id", "created_at", "last_seen_at", "is_agent", "agent_checksum"];

/// Create a node
///
/// Registers a discovered machine. Unknown fields are stored as facts of the node. Fields that the server sets must have
/// the values of a new node if they are present.
#[utoipa::path(
    post, path = "/api/v1/nodes", request_body = NewNodeBody,
    responses((status = 201, body = NodeView))
)]
pub(super) async fn node_create(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<ApiResponse<NodeView>> {
    let (new, status) = document.fields(read_new)?;
    let new = new.ok_or_else(|| ApiError::bad_request("No mac address specified"))?;
    if status.is_some_and(|status| status != NodeStatus::Discover.as_str()) {
        return Err(ApiError::forbidden("Only bootstrap nodes are allowed to be registered."));
    }
    let mut writing = app.change(&login).await?;
    let node = writing.node_create(&new).await.map_err(|error| match error {
        StoreError::AlreadyExists { .. } => {
            ApiError::conflict(format!("Node with mac {} already exists - doing nothing", new.mac))
        }
        error => error.into(),
    })?;
    if !new.facts.is_empty() {
        let facts = NodeFacts { node_id: node.id, uploaded: new.facts, reported: JsonMap::new() };
        writing.node_facts_put(&facts).await?;
    }
    document.check_read_only(READ_ONLY, &render_node(node.clone()))?;
    writing.commit(describe("node.create", &node, json!({"mac": node.mac, "name": node.name}))).await?;
    let generation = node.generation;
    Ok(ApiResponse::created(render_node(node)).version(generation))
}

/// Returns the node, `None` if it has no MAC address, and the reported status.
fn read_new(fields: &mut Fields<'_, '_>) -> Option<(Option<NewNode>, Option<String>)> {
    let body = NewNodeBody::read(fields)?;
    reject_assignment_fields(fields);
    fields.ignore(READ_ONLY);
    fields.ignore(IGNORED);
    let facts = rest(fields);
    let new = body.mac.map(|mac| NewNode {
        mac,
        ip: body.ip,
        name: body.name,
        hostname: body.hostname,
        manufacturer: body.manufacturer,
        platform_name: body.platform_name,
        os_platform: body.os_platform,
        labels: body.labels.unwrap_or_default(),
        meta: body.meta.unwrap_or_default(),
        facts,
    });
    Some((new, body.status))
}

fn reject_assignment_fields(fields: &mut Fields<'_, '_>) {
    for key in ASSIGNMENT_FIELDS {
        let Some(node) = fields.take(key) else { continue };
        let is_empty = match &node.kind {
            NodeKind::Scalar(Scalar::Null) => true,
            NodeKind::Seq(items) => items.is_empty(),
            _ => false,
        };
        if !is_empty {
            let span = node.span;
            fields.problems().in_key(key, |problems| {
                let help =
                    "create the node first, then assign it: POST /clusters/{id}/assignment/".to_owned();
                problems
                    .error(codes::UNKNOWN_KEY, span, "cannot be set when a node is created")
                    .set_help(help);
            });
        }
    }
}

/// Returns the remaining fields as facts of the node.
pub(super) fn rest(fields: &mut Fields<'_, '_>) -> JsonMap {
    let mut facts = JsonMap::new();
    for (key, node) in fields.remaining() {
        if let Some(value) = fields.problems().in_key(key, |problems| json(node, problems)) {
            facts.insert(key.to_owned(), value);
        }
    }
    facts
}
