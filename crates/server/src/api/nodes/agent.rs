//! Heartbeats of nodes. They are frequent, so a heartbeat without changes only updates the time of the last
//! one.

use axum::extract::State;
use serde_json::json;
use stoker_api_types::Request as _;
use stoker_api_types::nodes::{ReportBody, ReportView};
use stoker_manifest::reader::Fields;
use stoker_model::{JsonMap, Node, NodeId};

use super::access::{describe, not_found};
use super::discover::rest;
use crate::access::caller::Authenticated;
use crate::http::answer::Answer;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

struct Report {
    body: ReportBody,
    facts: JsonMap,
}

/// Report a node heartbeat
///
/// Called by agents. Marks the node as online and updates its inventory and facts if they changed.
#[utoipa::path(
    put, path = "/api/v1/nodes/agent", request_body = ReportBody,
    responses((status = 200, body = ReportView), (status = 404, body = stoker_api_types::error::Envelope, description = "The node does not exist: create it first"))
)]
pub(super) async fn node_report(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<Answer<ReportView>> {
    let report = document.fields(read_report)?;
    let node = find(&app, &report).await?;
    let checksum = &report.body.agent_checksum;
    let is_cached = checksum.is_some() && *checksum == node.agent_checksum;
    let reported = if is_cached { Node { online: true, ..node.clone() } } else { report.applied_to(&node) };
    if reported == node {
        app.store.node_seen(node.id, app.clock.now()).await?;
    } else {
        store(&app, &login, &report, is_cached, node.id).await?;
    }
    Ok(Answer::ok(ReportView { id: node.id.0, cached: is_cached.then_some(true) }))
}

fn read_report(fields: &mut Fields<'_, '_>) -> Option<Report> {
    let body = ReportBody::read(fields)?;
    // A node cannot change its own lifecycle or names.
    fields.ignore(&["status", "online", "is_agent", "name", "hostname"]);
    Some(Report { body, facts: rest(fields) })
}

async fn find(app: &App, report: &Report) -> ApiResult<Node> {
    let mut session = app.store.read().await?;
    let node = match (report.body.id, &report.body.mac) {
        (Some(id), _) => session.node_get(NodeId(id)).await?,
        (None, Some(mac)) => session.node_by_mac(mac).await?,
        (None, None) => return Err(ApiError::bad_request("missing node: specify `id` or `mac`")),
    };
    node.ok_or_else(not_found)
}

impl Report {
    fn applied_to(&self, node: &Node) -> Node {
        let body = &self.body;
        let mut node = Node { online: true, ..node.clone() };
        body.ip.clone().apply(&mut node.ip);
        body.manufacturer.clone().apply(&mut node.manufacturer);
        body.platform_name.clone().apply(&mut node.platform_name);
        body.os_platform.clone().apply(&mut node.os_platform);
        if let Some(meta) = &body.meta {
            node.meta.clone_from(meta);
        }
        if !self.facts.is_empty() {
            node.facts.clone_from(&self.facts);
        }
        if body.agent_checksum.is_some() {
            node.agent_checksum.clone_from(&body.agent_checksum);
        }
        node
    }
}

/// Applies the report to the current record of the node, which may have changed since `find`.
async fn store(
    app: &App,
    login: &Authenticated,
    report: &Report,
    is_cached: bool,
    id: NodeId,
) -> ApiResult<()> {
    let mut writing = app.change(login).await?;
    let node = writing.node_get(id).await?.ok_or_else(not_found)?;
    let mut reported =
        if is_cached { Node { online: true, ..node.clone() } } else { report.applied_to(&node) };
    reported.last_seen_at = Some(writing.now());
    let detail = json!({"online": [node.online, reported.online], "checksum": reported.agent_checksum});
    let node = writing.node_update(&reported).await?;
    Ok(writing.commit(describe("node.report", &node, detail)).await?)
}
