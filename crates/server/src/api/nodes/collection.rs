//! `/nodes/`.

use std::collections::HashSet;

use axum::extract::State;
use serde_json::json;
use stoker_manifest::reader::{list_of, object};
use stoker_model::{Change, ClusterId, Json, Node, NodeId, NodeStatus};
use stoker_store::{List, NodeFilter, Page, Writing};

use super::change::{change, within_quotas};
use super::read::{Body, read_body};
use super::view::{NamedNodeBody, NodeView};
use crate::access::caller::Authenticated;
use crate::http::answer::Answer;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::list::{Paging, list};
use crate::http::query::Query;
use crate::state::App;

/// All nodes; a member of a tenant sees those in clusters of its tenant
#[utoipa::path(
    get, path = "/api/v1/nodes",
    params(
        Paging,
        ("cluster_id" = Option<String>, Query, description = "Of this cluster; empty: of none"),
        ("ids" = Option<String>, Query, description = "Only these, comma-separated"),
        ("status" = Option<String>, Query, description = "With one of these statuses, comma-separated"),
        ("online" = Option<String>, Query, description = "1: only those online, 0: only the others"),
        ("roles" = Option<String>, Query,
            description = "With one of these roles, present or pending, comma-separated"),
        ("labels" = Option<String>, Query,
            description = "With all these labels, comma-separated: `rack=7`, or the name alone for any value"),
        ("search" = Option<String>, Query,
            description = "With all these words somewhere in id, name, addresses, roles and labels"),
    ),
    responses((status = 200, body = [NodeView]))
)]
pub(super) async fn node_list(
    State(app): State<App>,
    login: Authenticated,
    mut query: Query,
) -> ApiResult<Answer<Vec<NodeView>>> {
    let wanted = list(&mut query);
    let of_none = query.has("cluster_id") && query.text("cluster_id").is_none();
    let cluster = query.natural("cluster_id").map(|id| Some(ClusterId(id as i64)));
    let ids = query.ids("ids").map(|ids| ids.into_iter().map(NodeId).collect());
    let filter = NodeFilter {
        cluster: if of_none { Some(None) } else { cluster },
        tenant_id: login.tenant_limit(),
        ids,
    };
    let narrow = Narrow::read(&mut query);
    query.finish()?;
    let mut session = app.store.read().await?;
    let page = if narrow.is_everything() {
        session.node_list(&filter, &wanted).await?
    } else {
        let all = List { order_by: wanted.order_by.clone(), ..List::default() };
        narrow.page(session.node_list(&filter, &all).await?.items, &wanted)
    };
    Answer::page(&wanted, page, NodeView::from)
}

/// Filters that look into the record. They are applied here, for the lists in it are no columns.
struct Narrow {
    statuses: Option<Vec<NodeStatus>>,
    online: Option<bool>,
    roles: Option<Vec<String>>,
    labels: Option<Vec<String>>,
    /// In small letters.
    words: Vec<String>,
}

impl Narrow {
    fn read(query: &mut Query) -> Self {
        let online = query.text("online").is_some().then(|| query.boolean("online"));
        let statuses = query.words("status", NodeStatus::parse, NodeStatus::NAMES);
        let words = query.text("search").unwrap_or_default().split_whitespace().map(str::to_lowercase);
        let words = words.collect();
        Self { statuses, online, roles: query.list("roles"), labels: query.list("labels"), words }
    }

    fn is_everything(&self) -> bool {
        let has_none = self.statuses.is_none() && self.online.is_none() && self.roles.is_none();
        has_none && self.labels.is_none() && self.words.is_empty()
    }

    fn admits(&self, node: &Node) -> bool {
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

    fn page(&self, nodes: Vec<Node>, wanted: &List) -> Page<Node> {
        let admitted: Vec<Node> = nodes.into_iter().filter(|node| self.admits(node)).collect();
        let total = admitted.len() as u64;
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let rest = admitted.into_iter().skip(count(wanted.offset));
        let items = rest.take(wanted.limit.map_or(usize::MAX, count)).collect();
        Page { items, total }
    }
}

/// A label as people write it: `rack=7`, or the name alone where there is no value.
pub(super) fn label_text(name: &str, value: &Json) -> String {
    match value.as_str() {
        None | Some("") => name.to_owned(),
        Some(value) => format!("{name}={value}"),
    }
}

/// Whether a node has a label: `rack=7`, or `rack` with whatever value.
fn has_label(node: &Node, label: &str) -> bool {
    match label.split_once('=') {
        Some((name, value)) => {
            node.labels.get(name).is_some_and(|it| it.as_str().unwrap_or_default() == value)
        }
        None => node.labels.contains_key(label),
    }
}

/// Change several nodes; all of them, or none if one cannot be changed
#[utoipa::path(
    put, path = "/api/v1/nodes", request_body = [NamedNodeBody], responses((status = 200, body = [NodeView]))
)]
pub(super) async fn node_update_all(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<Answer<Vec<NodeView>>> {
    let bodies = document.read(list_of(object(read_body)))?;
    let mut writing = app.change(&login).await?;
    let mut changed = Vec::with_capacity(bodies.len());
    let mut seen = HashSet::new();
    for (index, body) in bodies.into_iter().enumerate() {
        let node = named(&mut writing, &body, index).await?;
        if !seen.insert(node.id) {
            return Err(ApiError::bad_request(format!("node {} is named twice", node.id)));
        }
        changed.push(change(&mut writing, node, body).await?);
    }
    within_quotas(&app, &mut writing, changed.iter().filter_map(|changed| changed.gainer)).await?;
    let ids: Vec<i64> = changed.iter().map(|changed| changed.node.id.0).collect();
    let target = "nodes".to_owned();
    writing.commit(Change { action: "node.update", target, detail: json!({"nodes": ids}) }).await?;
    Ok(Answer::ok(changed.into_iter().map(|changed| NodeView::from(changed.node)).collect()))
}

/// The node that an entry means: by id, else by mac.
async fn named(writing: &mut Writing, body: &Body, index: usize) -> ApiResult<Node> {
    let found = match (body.id, &body.mac) {
        (Some(NodeId(id)), _) => writing.node_get(NodeId(id)).await?,
        (None, Some(mac)) => writing.node_by_mac(mac).await?,
        (None, None) => {
            return Err(ApiError::bad_request(format!("entry {index}: MAC or ID is not specified")));
        }
    };
    found.ok_or_else(|| ApiError::bad_request(format!("entry {index}: Invalid ID or MAC specified")))
}
