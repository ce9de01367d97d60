//! `/nodes/`: list and bulk update.

use axum::extract::State;
use stoker_api_types::Request as _;
use stoker_api_types::nodes::{NamedNodeBody, NodeBody, NodeView};
use stoker_manifest::reader::{list_of, object};
use stoker_model::{ClusterId, Json, Node, NodeId, NodeStatus};
use stoker_services::nodes;
use stoker_store::{List, NodeFilter, Page};

use super::read::read_body;
use super::view::{render_node, render_updated};
use crate::access::caller::Authenticated;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::list::{Paging, list};
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

/// List nodes
///
/// Members of a tenant see only the nodes in clusters of their tenant.
#[utoipa::path(
    get, path = "/api/v1/nodes",
    params(
        Paging,
        ("cluster_id" = Option<String>, Query, description = "Filter by cluster; empty: nodes without a cluster"),
        ("ids" = Option<String>, Query, description = "Filter by ID, comma-separated"),
        ("status" = Option<String>, Query, description = "Filter by status, comma-separated"),
        ("online" = Option<String>, Query, description = "Filter by connectivity: 1 for online, 0 for offline"),
        ("roles" = Option<String>, Query,
            description = "Filter by role, assigned or pending; comma-separated, any of them matches"),
        ("labels" = Option<String>, Query,
            description = "Filter by label, comma-separated, all must match: `rack=7`, or only the name for any value"),
        ("search" = Option<String>, Query,
            description = "Words that must all occur in ID, name, addresses, roles or labels, case-insensitive"),
    ),
    responses((status = 200, body = [NodeView]))
)]
pub(super) async fn node_list(
    State(app): State<App>,
    login: Authenticated,
    mut query: Query,
) -> ApiResult<ApiResponse<Vec<NodeView>>> {
    let list = list(&mut query);
    let without_cluster = query.has("cluster_id") && query.text("cluster_id").is_none();
    let cluster = query.natural("cluster_id").map(|id| Some(ClusterId(id as i64)));
    let ids = query.ids("ids").map(|ids| ids.into_iter().map(NodeId).collect());
    let filter = NodeFilter {
        cluster: if without_cluster { Some(None) } else { cluster },
        tenant_id: login.tenant_limit(),
        ids,
        ..NodeFilter::default()
    };
    let record_filter = RecordFilter::read(&mut query);
    query.finish()?;
    let mut session = app.store.read().await?;
    let page = if record_filter.is_empty() {
        session.node_list(&filter, &list).await?
    } else {
        let unpaged = List { order_by: list.order_by.clone(), ..List::default() };
        record_filter.page(session.node_list(&filter, &unpaged).await?.items, &list)
    };
    ApiResponse::page(&list, page, render_node)
}

/// Filters that are applied in memory: roles and labels are not database columns.
struct RecordFilter {
    statuses: Option<Vec<NodeStatus>>,
    online: Option<bool>,
    roles: Option<Vec<String>>,
    labels: Option<Vec<String>>,
    /// Search words in lowercase.
    words: Vec<String>,
}

impl RecordFilter {
    fn read(query: &mut Query) -> Self {
        let online = query.text("online").is_some().then(|| query.boolean("online"));
        let statuses = query.words("status", NodeStatus::parse, NodeStatus::NAMES);
        let words = query.text("search").unwrap_or_default().split_whitespace().map(str::to_lowercase);
        let words = words.collect();
        Self { statuses, online, roles: query.list("roles"), labels: query.list("labels"), words }
    }

    fn is_empty(&self) -> bool {
        let has_none = self.statuses.is_none() && self.online.is_none() && self.roles.is_none();
        has_none && self.labels.is_none() && self.words.is_empty()
    }

    fn matches(&self, node: &Node) -> bool {
        let has_role = |role: &String| node.roles.contains(role) || node.pending_roles.contains(role);
        self.statuses.as_ref().is_none_or(|statuses| statuses.contains(&node.status))
            && self.online.is_none_or(|online| online == node.online)
            && self.roles.as_ref().is_none_or(|roles| roles.iter().any(has_role))
            && self.labels.as_ref().is_none_or(|labels| labels.iter().all(|label| has_label(node, label)))
            && self.has_words(node)
    }

    fn has_words(&self, node: &Node) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let id = node.id.to_string();
        let ip = node.ip.as_deref().unwrap_or_default();
        let mut text = [id.as_str(), &node.name, &node.hostname, ip, &node.mac].join(" ");
        for word in node.roles.iter().chain(&node.pending_roles) {
            text.push(' ');
            text.push_str(word);
        }
        for (name, value) in &node.labels {
            text.push(' ');
            text.push_str(&label_text(name, value));
        }
        let text = text.to_lowercase();
        self.words.iter().all(|word| text.contains(word))
    }

    fn page(&self, nodes: Vec<Node>, list: &List) -> Page<Node> {
        let matching: Vec<Node> = nodes.into_iter().filter(|node| self.matches(node)).collect();
        let total = matching.len() as u64;
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let rest = matching.into_iter().skip(count(list.offset));
        let items = rest.take(list.limit.map_or(usize::MAX, count)).collect();
        Page { items, total }
    }
}

/// Formats a label as `rack=7`, or as its name if it has no value.
pub(super) fn label_text(name: &str, value: &Json) -> String {
    match value.as_str() {
        None | Some("") => name.to_owned(),
        Some(value) => format!("{name}={value}"),
    }
}

/// Reports whether a node has the label `rack=7`, or `rack` with any value.
fn has_label(node: &Node, label: &str) -> bool {
    match label.split_once('=') {
        Some((name, value)) => {
            node.labels.get(name).is_some_and(|it| it.as_str().unwrap_or_default() == value)
        }
        None => node.labels.contains_key(label),
    }
}

/// Update multiple nodes
///
/// The request is atomic: if one node cannot be updated, no node is.
#[utoipa::path(
    put, path = "/api/v1/nodes", request_body = [NamedNodeBody], responses((status = 200, body = [NodeView]))
)]
pub(super) async fn node_update_all(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<ApiResponse<Vec<NodeView>>> {
    let updates = document.read(list_of(object(read_body)))?;
    let mut writing = app.change(&login).await?;
    let nodes = nodes::nodes_named(&mut writing, &updates).await?;
    let stored: Vec<NodeView> = nodes.iter().cloned().map(render_node).collect();
    document.check_read_only_items(NodeBody::READ_ONLY, &stored)?;
    let updates = nodes.into_iter().zip(updates).collect();
    let changed = nodes::node_update_all(&app.settings, writing, updates).await?;
    Ok(ApiResponse::ok(changed.into_iter().map(render_updated).collect()))
}
