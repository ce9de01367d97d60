//! Heartbeats of nodes. They are frequent, so a heartbeat without changes only updates the time of the last
//! one.

use axum::extract::State;
use serde::Serialize;
use serde_json::json;
use stoker_manifest::reader::{Fields, FieldUpdate, identifier, nullable, string_with_length};
use stoker_model::{JsonMap, Node, NodeId};
use utoipa::ToSchema;

use super::access::{describe, not_found};
use super::discover::rest;
use super::names::{read_ip, read_mac, read_meta};
use crate::access::caller::Authenticated;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

const TEXT_CHARS_MAX: usize = 4096;

/// Response to a heartbeat.
#[derive(Serialize, ToSchema)]
#[schema(as = NodeReportAnswer)]
pub(super) struct ReportView {
    /// ID of the node.
    #[schema(example = 7)]
    id: i64,
    /// True if the checksum is unchanged, so the report was not evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cached: Option<bool>,
}

/// Report of an agent. Unknown fields are stored as facts of the node.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct ReportBody {
    /// ID of the node. Either `id` or `mac` is required.
    #[schema(example = 7)]
    id: Option<i64>,
    /// MAC address of the node.
    #[schema(example = "52:54:00:12:34:56")]
    mac: Option<String>,
    /// Checksum of the other fields. If it equals the previous one, the report is unchanged and is not
    /// evaluated.
    agent_checksum: Option<String>,
    /// IP address of the node.
    ip: Option<String>,
    /// Inventory of the machine.
    #[schema(value_type = Option<Object>, example = json!({"interfaces": []}))]
    meta: Option<JsonMap>,
    /// Manufacturer of the machine.
    manufacturer: Option<String>,
    /// Hardware platform of the machine.
    platform_name: Option<String>,
    /// Operating system of the machine.
    os_platform: Option<String>,
}

struct Report {
    id: Option<NodeId>,
    mac: Option<String>,
    checksum: Option<String>,
    ip: FieldUpdate<String>,
    meta: Option<JsonMap>,
    manufacturer: FieldUpdate<String>,
    platform_name: FieldUpdate<String>,
    os_platform: FieldUpdate<String>,
    facts: JsonMap,
}

/// Report a node heartbeat
///
/// Called by agents. Marks the node as online and updates its inventory and facts if they changed.
#[utoipa::path(
    put, path = "/api/v1/nodes/agent", request_body = ReportBody,
    responses((status = 200, body = ReportView), (status = 404, body = crate::http::error::Envelope, description = "The node does not exist: create it first"))
)]
pub(super) async fn node_report(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<ApiResponse<ReportView>> {
    let report = document.fields(read_report)?;
    let node = find(&app, &report).await?;
    let is_cached = report.checksum.is_some() && report.checksum == node.agent_checksum;
    let reported = if is_cached { Node { online: true, ..node.clone() } } else { report.applied_to(&node) };
    if reported == node {
        app.store.node_heartbeat(node.id, app.clock.now()).await?;
    } else {
        store(&app, &login, &report, is_cached, node.id).await?;
    }
    Ok(ApiResponse::ok(ReportView { id: node.id.0, cached: is_cached.then_some(true) }))
}

#[expect(clippy::unnecessary_wraps, reason = "signature of a body reader")]
fn read_report(fields: &mut Fields<'_, '_>) -> Option<Report> {
    let text = || string_with_length(0..=TEXT_CHARS_MAX);
    let report = Report {
        id: fields.optional("id", nullable(identifier)).flatten().map(NodeId),
        mac: fields.optional("mac", nullable(read_mac)).flatten(),
        checksum: fields.optional("agent_checksum", nullable(string_with_length(1..=255))).flatten(),
        ip: fields.update("ip", read_ip),
        meta: fields.optional("meta", nullable(read_meta)).flatten(),
        manufacturer: fields.update("manufacturer", text()),
        platform_name: fields.update("platform_name", text()),
        os_platform: fields.update("os_platform", text()),
        facts: JsonMap::new(),
    };
    // A node cannot change its own lifecycle or names.
    fields.ignore(&["status", "online", "is_agent", "name", "hostname"]);
    let facts = rest(fields);
    Some(Report { facts, ..report })
}

async fn find(app: &App, report: &Report) -> ApiResult<Node> {
    let mut session = app.store.read().await?;
    let node = match (report.id, &report.mac) {
        (Some(id), _) => session.node_get(id).await?,
        (None, Some(mac)) => session.node_by_mac(mac).await?,
        (None, None) => return Err(ApiError::bad_request("missing node: specify `id` or `mac`")),
    };
    node.ok_or_else(not_found)
}

impl Report {
    fn applied_to(&self, node: &Node) -> Node {
        let mut node = Node { online: true, ..node.clone() };
        self.ip.clone().apply(&mut node.ip);
        self.manufacturer.clone().apply(&mut node.manufacturer);
        self.platform_name.clone().apply(&mut node.platform_name);
        self.os_platform.clone().apply(&mut node.os_platform);
        if let Some(meta) = &self.meta {
            node.meta.clone_from(meta);
        }
        if !self.facts.is_empty() {
            node.facts.clone_from(&self.facts);
        }
        if self.checksum.is_some() {
            node.agent_checksum.clone_from(&self.checksum);
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
