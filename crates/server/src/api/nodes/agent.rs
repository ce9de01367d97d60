//! Heartbeats of nodes.

use axum::extract::State;
use serde::Serialize;
use stoker_manifest::reader::{Fields, identifier, nullable, string_with_length};
use stoker_model::{JsonMap, NodeId};
use stoker_services::nodes::{self, NodeReport};
use utoipa::ToSchema;

use super::discover::rest;
use super::names::{read_ip, read_mac, read_meta};
use crate::access::caller::Authenticated;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::response::ApiResponse;
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
    let reported = nodes::node_report(&app.store, app.clock, &login.actor(), &report).await?;
    Ok(ApiResponse::ok(ReportView { id: reported.id.0, cached: reported.is_cached.then_some(true) }))
}

#[expect(clippy::unnecessary_wraps, reason = "signature of a body reader")]
fn read_report(fields: &mut Fields<'_, '_>) -> Option<NodeReport> {
    let text = || string_with_length(0..=TEXT_CHARS_MAX);
    let report = NodeReport {
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
    Some(NodeReport { facts, ..report })
}
